// The story that both TypeScript SDKs act out against MMW: the twin of story.py, told with the SDKs' own verbs.
// Both SDKs check every structured answer against the tool's output schema.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const LIMIT_MS = 120_000;
const CONTENT = 'staging is deployed with the systemd unit `app-staging`';
// No file of the computer that the test runs on: the agent would look at it and find it gone.
const SOURCE = 'wiki:deploy';
const HASH = `sha256:${'5a'.repeat(32)}`;
const OTHER_HASH = `sha256:${'c3'.repeat(32)}`;
const TOOLS = ['remember', 'search', 'forget', 'validate_memory', 'explain_memory'];

const clients = process.env.CLIENTS_DIR;
if (!clients) throw new Error('set CLIENTS_DIR to the DIR that install.sh filled');
const fromClients = createRequire(join(resolve(clients), 'npm', 'package.json'));

/** Imports a package that install.sh put into DIR/npm. */
export const load = (name) => import(fromClients.resolve(name));

/** Fails with the claim and with what was seen instead, unless it holds. */
const check = (holds, claim, seen) => assert.ok(holds, `${claim}: got ${JSON.stringify(seen)?.slice(0, 1500)}`);

const text = (result) => result.content.map((block) => block.text ?? '').join('\n');

async function answer(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  check(!result.isError && result.structuredContent, `${name} succeeds with structuredContent`, result);
  check(text(result).trim(), `${name} answers with text for the model`, result);
  return result.structuredContent;
}

async function refusal(client, name, args, names) {
  const result = await client.callTool({ name, arguments: args });
  check(result.isError === true, `${name} ${JSON.stringify(args)} is a tool error`, result);
  const said = text(result) + JSON.stringify(result.structuredContent ?? {});
  for (const part of names) check(said.includes(part), `the error names ${part}`, result);
}

async function tell(client, name) {
  // Two runs against one server do not meet: the workspace and so the fact are new each time.
  const workspace = `${name}-${randomBytes(3).toString('hex')}`;
  const query = 'how is staging deployed';

  // Listing the tools is also what makes the SDKs learn the output schemas.
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  check(TOOLS.every((tool) => tools.includes(tool)), `the tools ${TOOLS} are listed`, tools);

  const saved = await answer(client, 'remember', {
    content: CONTENT, fact_key: `deploy-staging-${name}`, workspace, source_id: SOURCE, source_hash: HASH });
  check(saved.status === 'unverified' && saved.id, 'a new record has an id and is `unverified`', saved);
  const id = saved.id;

  const found = await answer(client, 'search', { query, workspace });
  check(found.hits[0]?.id === id, `the first hit is ${id}`, found);
  check(found.hits[0].content === CONTENT, 'the first hit has the content that was saved', found);
  check(found.hits[0].source_id === SOURCE, 'the first hit names its source', found);

  await refusal(client, 'search', { query, limit: 0 }, ['limit']);
  await refusal(client, 'search', { query, worksapce: workspace }, ['worksapce', 'workspace']);

  const explained = await answer(client, 'explain_memory', { memory_id: id });
  check(JSON.stringify(explained).includes(id), 'the receipt of the record names its id', explained);
  const stale = await answer(client, 'validate_memory', { source_id: SOURCE, current_source_hash: OTHER_HASH, workspace });
  check(JSON.stringify(stale.stale).includes(id), 'a changed source makes the record stale', stale);

  const templates = (await client.listResourceTemplates()).resourceTemplates.map((it) => it.uriTemplate);
  check(templates.includes('mmw://record/{id}'), 'records are readable resources', templates);
  const record = await client.readResource({ uri: `mmw://record/${id}` });
  check(JSON.stringify(record.contents).includes('`app-staging`'), "the record's resource has its content", record);
  await assert.rejects(client.readResource({ uri: 'mmw://record/00000000-0000-7000-8000-000000000000' }),
    'reading an absent record is an error');

  const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  check(prompts.includes('recall'), 'the prompt `recall` is listed', prompts);
  const ref = { type: 'ref/resource', uri: 'mmw://brief/{workspace}' };
  const completed = await client.complete({ ref, argument: { name: 'workspace', value: workspace.slice(0, -2) } });
  check(completed.completion.values.includes(workspace), `\`workspace\` completes to ${workspace}`, completed);

  const receipt = await answer(client, 'forget', { memory_id: id });
  check(receipt.forgotten === 1, 'the receipt counts one record', receipt);
  const after = await answer(client, 'search', { query, workspace });
  check(after.hits.every((hit) => hit.id !== id), 'a forgotten record is not found', after);
}

/** Parses `--url URL --key KEY` or `--stdio PROGRAM [ARG...]`. */
function target() {
  const args = process.argv.slice(2);
  const value = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
  const command = args.includes('--stdio') ? args.slice(args.indexOf('--stdio') + 1) : undefined;
  const url = command ? undefined : value('--url');
  if (!url && !command?.length) throw new Error('say where the server is: --url URL --key KEY, or --stdio PROGRAM [ARG...]');
  return { url, key: value('--key') ?? process.env.MMW_API_KEY, command };
}

/**
 * Tells the story once for each mode and sets the exit code.
 * `sdk` has `Http` and `Stdio` (the transports) and `open(transport, mode)`, which returns a connected client.
 */
export async function act(label, modes, sdk) {
  const { url, key, command } = target();
  for (const mode of modes) {
    const name = `${label}-${command ? 'stdio' : 'http'}-${mode}`;
    const began = performance.now();
    const home = mkdtempSync(join(tmpdir(), 'mmw-client-'));
    process.once('exit', () => rmSync(home, { recursive: true, force: true }));
    setTimeout(() => { console.error(`FAIL ${name}: not done after ${LIMIT_MS} ms`); process.exit(1); }, LIMIT_MS).unref();
    let client;
    try {
      const mine = Object.entries(process.env).filter(([it]) => it.startsWith('MMW_'));
      const env = { MMW_AGENT_HOME: join(home, 'mmw'), ...Object.fromEntries(mine), PATH: process.env.PATH, HOME: home };
      const transport = command
        ? new sdk.Stdio({ command: command[0], args: command.slice(1), env })
        : new sdk.Http(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } });
      client = await sdk.open(transport, mode);
      await tell(client, name);
      await client.close();
      console.log(`ok ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      console.error(`FAIL ${name}: ${error.message}\n${error.stack}`);
      await client?.close().catch(() => {});
      process.exit(1);
    }
  }
}
