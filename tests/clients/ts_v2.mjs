// The official TypeScript SDK, version 2, in its three modes: the old handshake, automatic, pinned to 2026-07-28.
//   CLIENTS_DIR=DIR DIR/npm/node_modules/.bin/node ts_v2.mjs --url URL --key KEY
//   CLIENTS_DIR=DIR DIR/npm/node_modules/.bin/node ts_v2.mjs --stdio PROGRAM [ARG...]
import { strict as assert } from 'node:assert';
import { act, load } from './story.mjs';

const { Client, StreamableHTTPClientTransport: Http } = await load('@modelcontextprotocol/client');
const { StdioClientTransport: Stdio } = await load('@modelcontextprotocol/client/stdio');

await act('ts2', ['legacy', 'auto', '2026-07-28'], {
  Http,
  Stdio,
  async open(transport, mode) {
    const versionNegotiation = { mode: mode === '2026-07-28' ? { pin: mode } : mode };
    const client = new Client({ name: 'mmw-ts2', version: '1' }, { versionNegotiation });
    await client.connect(transport);
    // MMW serves both eras, so `auto` must land on the newer one.
    const version = client.getNegotiatedProtocolVersion();
    assert.equal(version === '2026-07-28', mode !== 'legacy', `mode ${mode} negotiated ${version}`);
    return client;
  },
});
