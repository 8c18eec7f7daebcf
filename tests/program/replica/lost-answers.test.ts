import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBackend } from '../../support/backend.ts';
import { type Client, createClient, createOperator, createTestApp } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { litestreamBin, replicated } from '../../support/litestream.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';

const CLI = fileURLToPath(new URL('../../../cli.js', import.meta.url));

interface Card {
  readonly conversation: unknown;
  readonly invocation: string;
}

async function askForIt(client: Client): Promise<Card> {
  const asked = await client.say('Please do it.');
  const [pending] = (asked.events.at(-1)?.pending ?? []) as { invocation_id: string }[];
  assert.ok(pending !== undefined, asked.text);
  return { conversation: asked.events[0]?.conversation_id, invocation: pending.invocation_id };
}

async function confirm(client: Client, { invocation }: Card) {
  const answer = await client.send('POST', `/v1/invocations/${invocation}/confirm`, { decision: 'confirm' });
  return answer.json as { status: string; already_answered?: true };
}

/** The client passes the confirmation on. Returns what the model was told of the call. */
async function goOn(client: Client, { conversation, invocation }: Card): Promise<string> {
  const tool_results = [{ invocation_id: invocation, status: 'ok', confirmed: true }];
  const body = { conversation_id: conversation, tool_results };
  return (await client.chat(body, { 'X-Service-User-Token': 'person-1' })).text;
}

test('REPLICA-9: a call that may have been confirmed after the last replicated moment is unknown, and is not sent again', async (t) => {
  const backend = await startBackend(t);
  // Calls the write, and then repeats what it was told of it.
  const upstream = await startUpstream(t, ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool' ? [{ text: last.content }] : [{ call: 'do_it', args: {}, id: `call_${randomUUID().slice(0, 8)}` }];
  });
  const target = temporaryDir(t);
  const url = `file://${target}`;
  const env = {
    ...upstreamEnv(upstream),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    DEMO: 'off',
  };
  const replica = { REPLICA_URL: url, LITESTREAM_BIN: litestreamBin() };
  const service = await startService(t, { env: { ...env, ...replica } });
  const app = await createTestApp(service.baseUrl, service.operatorToken, { record_confirmations: true });
  const action = { external_key: 'do', name: 'do_it', description: 'Does it.', method: 'POST', risk: 'write', confirm_template: 'Do it?' };
  const items = [{ ...action, url_template: `${backend.url}/do`, auth: 'user' }];
  const operator = createOperator(service.baseUrl, service.operatorToken);
  assert.equal((await operator('POST', `/apps/${app.appId}/actions`, { items })).status, 200);
  const client = createClient(service.baseUrl, app.liveKey);
  const cards = [await askForIt(client), await askForIt(client)] as const;
  // What was confirmed and not run yet may have been run, too.
  assert.equal((await confirm(client, cards[1])).status, 'confirmed');
  const states = 'SELECT state FROM invocations ORDER BY state';
  const carried = () =>
    JSON.stringify(
      replicated(t, { target, dataDir: service.dataDir, masterKey: env.MASTER_KEY }, `organisations/${app.organisationId}.sqlite`, states),
    );
  await eventually(() => carried() === '[{"state":"confirmed"},{"state":"pending.clean"}]', 60_000, carried);

  // Until then another Litestream carries it.
  const followed = () => readFileSync(join(service.dataDir, 'replica', 'litestream.yml'), 'utf8').includes(app.organisationId);
  // The configuration is written before the Litestream that reads it runs.
  const pidFile = join(service.dataDir, 'replica', 'litestream.pid');
  let litestream = 0;
  const runs = () => {
    litestream = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0;
    return litestream > 0;
  };
  await eventually(() => followed() && runs(), 60_000);
  process.kill(litestream, 'SIGSTOP');
  assert.equal((await confirm(client, cards[0])).status, 'confirmed');
  for (const card of cards) assert.doesNotMatch(await goOn(client, card), /not known/);
  assert.equal(backend.requests.length, 2);
  await service.stop('SIGKILL');
  process.kill(litestream, 'SIGKILL');

  const dataDir = join(temporaryDir(t), 'restored');
  const restored = spawnSync(process.execPath, [CLI, 'restore', '--from', url, '--json'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, ...env, ...replica },
    encoding: 'utf8',
  });
  assert.equal((JSON.parse(restored.stdout) as { unknown_calls: number }).unknown_calls, 2, restored.stderr);
  const again = await startService(t, { dataDir, env });
  const same = createClient(again.baseUrl, app.liveKey);
  assert.deepEqual(await confirm(same, cards[0]), { status: 'expired', already_answered: true });
  for (const card of cards) assert.match(await goOn(same, card), /It is not known whether do_it was done/);
  assert.equal(backend.requests.length, 2);
});
