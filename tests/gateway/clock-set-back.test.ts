/** What somebody was told has run out stays so, when the clock was ahead and is put right. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../actors/announcements.ts';
import { createDeadlines } from '../../actors/deadlines.ts';
import { readAttachments } from '../../actors/turns/attachments.ts';
import { createUploadReceiver } from '../../actors/uploads/upload-receiver.ts';
import { loginRoute, sessionRoute } from '../../gateway/console/operator-session.ts';
import type { Refusal } from '../../protocol/errors.ts';
import { hashSecret } from '../../storage/setup/setup-access.ts';
import { storeApp } from '../actors/setup/app-in-storage.ts';
import { AGENT, fetchFile } from '../support/setup-agent.ts';
import { type AnsweredApp, DEVICE, OPERATOR_TOKEN, serveAnsweredApp } from './answered-app.ts';
import { EXPIRES_AT_MS, serveAskedRows } from './runtime/asked-rows.ts';
import { startClocked } from './setup/setup-clock.ts';
import { serve } from './test-server.ts';

const DAY_MS = 24 * 3_600_000;
const START_MS = Date.UTC(2026, 10, 21);

interface Subject {
  readonly clock: { nowMs: number };
  /** What whoever has it is told. */
  ask(): Promise<unknown>;
  /** Ends what has run out, where a timer does that; deadlines look within a second of a jump. */
  timer?(): Promise<void>;
}

/** Each is asked when it has run out, and again when the clock is back where it was good. */
const KINDS: Readonly<Record<string, (t: TestContext) => Promise<Subject>>> = {
  async 'the code of a setup file'(t) {
    const { baseUrl, clock, open } = await startClocked(t);
    const { code } = await open();
    // The session itself is over as well after a day, and says so first: only its code is too old here.
    return { clock: slower(clock), ask: async () => (await fetchFile(baseUrl, code)).status };
  },
  async 'the token of a setup session'(t) {
    const { clock, agent: start, settleDeadlines } = await startClocked(t);
    const { agent } = await start();
    return { clock, ask: async () => (await agent.send('POST', '/start', AGENT)).status, timer: settleDeadlines };
  },
  async 'the code of a pairing'(t) {
    const app = await serveAnsweredApp(t);
    const { code } = (await app.console('POST', `/apps/${app.appId}/pairings`)).json as { code: string };
    return { clock: app.clock, ask: async () => (await app.sdk('POST', '/v1/pairings/claim', { code })).status };
  },
  async 'the page of a pairing'(t) {
    const app = await serveAnsweredApp(t);
    const { pairing_id } = (await app.console('POST', `/apps/${app.appId}/pairings`)).json as { pairing_id: string };
    return { clock: app.clock, ask: () => stateOfPairing(app, pairing_id) };
  },
  async 'the page of a pairing whose build was watched'(t) {
    const app = await serveAnsweredApp(t);
    const opened = (await app.console('POST', `/apps/${app.appId}/pairings`)).json as { pairing_id: string; code: string };
    assert.equal((await app.sdk('POST', '/v1/pairings/claim', { code: opened.code })).status, 200);
    return { clock: app.clock, ask: () => stateOfPairing(app, opened.pairing_id) };
  },
  async 'the stream of a pairing'(t) {
    const app = await serveAnsweredApp(t);
    const { pairing_id } = (await app.console('POST', `/apps/${app.appId}/pairings`)).json as { pairing_id: string };
    const ask = async () => {
      // The stream of a pairing that is over ends at once.
      const { text } = await app.console('GET', `/pairings/${pairing_id}/stream`);
      return /"state":"(\w+)"/.exec(text)?.[1];
    };
    return { clock: app.clock, ask };
  },
  async 'the session of a code'(t) {
    const { baseUrl, clock, freshCode, open } = await startClocked(t);
    const { ref } = await open();
    clock.nowMs += DAY_MS - 1;
    const code = await freshCode(ref);
    return { clock, ask: async () => (await fetchFile(baseUrl, code)).status };
  },
  async 'a setup session that an agent works in'(t) {
    const { clock, agent: start, row } = await startClocked(t);
    const { agent, ref } = await start();
    assert.equal((await agent.send('GET', '/status')).status, 200);
    const ask = async () => {
      const { status } = await agent.send('GET', '/status');
      return `${status} ${row(ref)?.state}`;
    };
    return { clock, ask };
  },
  async 'the cookie of the console'(t) {
    const { ask, clock } = await signedIn(t);
    return { clock, ask: () => ask('/console/api/session') };
  },
  async 'an upload that no message used'(t) {
    const { storage, organisationId, appId } = await storeApp(t, START_MS);
    const clock = { nowMs: START_MS };
    const log = pino({ level: 'silent' });
    const receiver = createUploadReceiver({ storage, log, nowMs: () => clock.nowMs, noteDeadline: () => {} });
    const caller = { organisationId, appId, channel: 'live', deviceId: DEVICE, address: '' } as const;
    const { upload_id: id } = await receiver.receive(
      { ...caller, address: '203.0.113.7' },
      { bytes: Buffer.from('words'), fileName: 'a.txt' },
    );
    const ask = () =>
      readAttachments({ ...caller, storage, nowMs: clock.nowMs, uploadIds: [id] }).then(
        () => 200,
        (error: unknown) => (error as Refusal).status,
      );
    assert.equal(await ask(), 200);
    return { clock, ask };
  },
  async 'a card that waits for a person'(t) {
    const clock = { nowMs: EXPIRES_AT_MS - 1 };
    const cards = await serveAskedRows(t, () => clock.nowMs);
    const [id = ''] = cards.add(1);
    return { clock, ask: async () => (await cards.post(id, 'confirm', { decision: 'confirm' })).json.status };
  },
  async 'a card that a person changes'(t) {
    const clock = { nowMs: EXPIRES_AT_MS - 1 };
    const cards = await serveAskedRows(t, () => clock.nowMs);
    const [id = ''] = cards.add(1);
    const change = { params: { day: 'friday' }, revision: 1 };
    const ask = async () => `${(await cards.post(id, 'edit', change)).status} ${cards.seen(id).state}`;
    return { clock, ask };
  },
  async 'the link of the start banner'(t) {
    const { storage } = await storeApp(t, START_MS);
    const clock = { nowMs: START_MS };
    const codeHash = hashSecret('a code');
    await storage.writeControl('keepConsoleLink', { codeHash, expiresAtMs: START_MS + 1_000 });
    return { clock, ask: () => storage.writeControl('useConsoleLink', { codeHash, nowMs: clock.nowMs }) };
  },
};

async function stateOfPairing(app: AnsweredApp, id: string): Promise<string> {
  return ((await app.console('GET', `/pairings/${id}`)).json as { pairing: { state: string } }).pairing.state;
}

/** A person in the console: `ask` sends their cookie. */
async function signedIn(t: TestContext) {
  const { storage } = await storeApp(t, START_MS);
  const clock = { nowMs: START_MS };
  const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };
  const routes = [loginRoute, sessionRoute];
  const { base } = await serve(t, routes, { config, storage, nowMs: () => clock.nowMs });
  const headers = { 'Content-Type': 'application/json' };
  const login = await fetch(`${base}/console/api/login`, { method: 'POST', headers, body: JSON.stringify({ token: OPERATOR_TOKEN }) });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ask = async (path: string) => (await fetch(base + path, { headers: { cookie } })).status;
  assert.equal(await ask('/console/api/session'), 200);
  return { clock, ask };
}

/** The same clock, that a day takes forward by an hour. */
function slower(clock: { nowMs: number }): { nowMs: number } {
  const startMs = clock.nowMs;
  return {
    get nowMs() {
      return startMs + (clock.nowMs - startMs) * 24;
    },
    set nowMs(ms: number) {
      clock.nowMs = startMs + (ms - startMs) / 24;
    },
  };
}

for (const [name, make] of Object.entries(KINDS)) {
  test(`STORE-7: ${name} that was told to be too old stays so when the clock is set back`, async (t) => {
    const { clock, ask, timer } = await make(t);
    clock.nowMs += DAY_MS;
    const told = await ask();
    await timer?.();
    clock.nowMs -= DAY_MS;
    assert.deepEqual(await ask(), told);
    assert.match(`${told}`, /^(false|expired|over|4\d\d( expired)?)$/);
  });
}

test('STORE-7: deadlines are looked at within a second when the clock is set forward, though their timer has hours to go', async (t) => {
  const { storage, organisationId } = await storeApp(t, START_MS);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = { wallMs: START_MS, passedMs: 0 };
  let dueAtMs: number | null = START_MS + DAY_MS;
  const deadlines = createDeadlines({
    others: silentAnnouncer,
    storage,
    log: pino({ level: 'silent' }),
    nowMs: () => clock.wallMs,
    monotonicMs: () => clock.passedMs,
  });
  t.after(() => deadlines.close());
  const pass = async (ms: number) => {
    clock.wallMs += ms;
    clock.passedMs += ms;
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  deadlines.watch([
    {
      next: () => dueAtMs,
      settle: async () => {
        if (dueAtMs !== null && dueAtMs <= clock.wallMs) dueAtMs = null;
      },
    },
  ]);
  deadlines.look(organisationId);
  await pass(10_000);
  assert.notEqual(dueAtMs, null);
  clock.wallMs += DAY_MS;
  await pass(500);
  await pass(1);
  assert.equal(dueAtMs, null);
});
