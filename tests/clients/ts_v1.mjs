// The official TypeScript SDK, version 1 (what most clients of 2025 are built on): 2025-11-25 only.
//   CLIENTS_DIR=DIR DIR/npm/node_modules/.bin/node ts_v1.mjs --url URL --key KEY
//   CLIENTS_DIR=DIR DIR/npm/node_modules/.bin/node ts_v1.mjs --stdio PROGRAM [ARG...]
import { act, load } from './story.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport: Http } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { StdioClientTransport: Stdio } = await load('@modelcontextprotocol/sdk/client/stdio.js');

await act('ts1', ['legacy'], {
  Http,
  Stdio,
  async open(transport) {
    const client = new Client({ name: 'mmw-ts1', version: '1' });
    await client.connect(transport);
    return client;
  },
});
