/**
 * How long each read keeps the event loop in an organisation of the `scale` plan's size: console lists, counts, exports, a person's
 * erasure, and the reads of clients. `npm run bench:loop -- reads`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_CORE } from '../servers/processes.ts';
import { createApp, createOrganisation, type Server, startProgram, withDataDir } from '../servers/service.ts';
import { BUSY_PERSON, fillOrganisation, type LargeIds, type LargePlan, LONG_CONVERSATION, LONG_DEVICE } from './large-organisation.ts';
import { type Measured, measure, shown, TOLD_FROM_MS } from './loop-meter.ts';

const MONTH_BACK_CHARS = 7;

function readsOf({ organisationId, appId, quietAppId }: LargeIds): readonly (readonly [string, string])[] {
  const app = `/apps/${appId}`;
  const quiet = `/apps/${quietAppId}`;
  const month = new Date(Date.now() - 32 * 24 * 3_600_000).toISOString().slice(0, MONTH_BACK_CHARS);
  return [
    ['GET', `/orgs/${organisationId}/usage`],
    ['GET', `/orgs/${organisationId}/usage?month=${month}`],
    ['GET', '/orgs'],
    ['GET', `/orgs/${organisationId}/apps`],
    ['GET', app],
    ...[app, quiet].flatMap((each): (readonly [string, string])[] => [
      ['GET', `${each}/status`],
      ['GET', `${each}/end-users?limit=200`],
      ['GET', `${each}/end-users?external_user_id=person-77777`],
      ['GET', `${each}/conversations?limit=200`],
      ['GET', `${each}/conversations?limit=200&channel=sandbox`],
      ['GET', `${each}/feedback?limit=200`],
      ['GET', `${each}/feedback?limit=200&kind=ratings`],
      ['GET', `${each}/actions`],
      ['GET', `${each}/screens`],
      ['GET', `${each}/knowledge`],
      ['GET', `${each}/proposals`],
      ['GET', `${each}/sessions`],
      ['GET', `${each}/pairings`],
    ]),
    ['GET', `/conversations/${LONG_CONVERSATION}?app=${appId}&limit=200`],
    ['GET', `/conversations/${LONG_CONVERSATION}`],
    ['GET', '/actors'],
    ['GET', '/nodes'],
    ['GET', `${app}/end-users/${BUSY_PERSON}/export`],
    ['DELETE', `${app}/end-users/${BUSY_PERSON}`],
    ['DELETE', quiet],
  ];
}

async function measureAll(server: Server, logFile: string, ids: LargeIds, token: string, liveKey: string): Promise<Measured[]> {
  const measured: Measured[] = [];
  const { pid } = server.process;
  const ask = (method: string, url: string, headers: Record<string, string>, body?: unknown) => () =>
    fetch(`${server.origin}${url}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const device = { 'X-Service-Key': liveKey, 'X-Service-Device': LONG_DEVICE };
  const client = { protocol: 1, sdk: 'web/0.50.0', catalog_version: '2026-11.a', components: ['text'] };
  const runtime: readonly (readonly [string, string, unknown?])[] = [
    ['GET', '/v1/apps/config'],
    ['GET', `/v1/conversations/${LONG_CONVERSATION}/messages?limit=200`],
    ['GET', `/v1/conversations/${LONG_CONVERSATION}/messages?limit=1`],
    ['POST', '/v1/identify', { user: { id: 'person-5' }, traits: { plan: 'pro' } }],
    ['POST', '/v1/chat', { turn_id: crypto.randomUUID(), client, message: { text: 'What do you know?' } }],
    ['POST', '/v1/chat', { turn_id: crypto.randomUUID(), client, conversation_id: LONG_CONVERSATION, message: { text: 'And now?' } }],
  ];
  // Twice: what compiles and warms up the first time is not what the read costs.
  for (const round of ['first ', '']) {
    for (const [method, path, body] of runtime) {
      const sent = path === '/v1/chat' ? { ...(body as object), turn_id: crypto.randomUUID() } : body;
      measured.push(await measure(pid, logFile, `${round}${method} ${path}`, ask(method, path, device, sent)));
    }
    for (const [method, path] of readsOf(ids)) {
      if (method === 'DELETE' && round !== '') continue;
      const send = ask(method, `/console/api${path}`, { authorization: `Bearer ${token}` });
      measured.push(await measure(pid, logFile, `${round}${method} ${path}`, send));
    }
  }
  return measured;
}

/** Makes the organisation, measures, prints. */
export async function loopReads(outDir: string, plan: LargePlan): Promise<void> {
  mkdirSync(outDir, { recursive: true });
  const token = 'bench-operator-token-of-24-chars';
  const env = { DEMO: 'off', OPERATOR_TOKEN: token, STALL_MS: String(TOLD_FROM_MS) };
  await withDataDir(async (dataDir, remove) => {
    const place = { core: SERVER_CORE, dataDir, outDir, env };
    const maker = await startProgram({ ...place, name: 'loop-maker' });
    const organisationId = await createOrganisation(maker.operator);
    const { appId, liveKey } = await createApp(maker.operator, organisationId);
    const quiet = await createApp(maker.operator, organisationId);
    await maker.operator.call('POST', `/apps/${appId}/go-live`);
    await maker.stop();
    const ids = { organisationId, appId, quietAppId: quiet.appId };
    fillOrganisation(dataDir, ids, plan, Date.now(), (step) => process.stderr.write(`${step}\n`));
    const startedMs = performance.now();
    const server = await startProgram({ ...place, name: 'loop-reads' });
    process.stdout.write(`start with these rows: ${Math.round(performance.now() - startedMs)} ms\n`);
    try {
      process.stdout.write(`${shown(await measureAll(server, join(outDir, 'loop-reads.log'), ids, token, liveKey))}\n`);
    } finally {
      await server.stop();
      remove();
    }
  });
}
