/** What somebody was told has run out stays so, when the clock was ahead and is put right. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { createDeadlines } from '../../src/actors/deadlines.ts';
import { hashSecret } from '../../src/storage/setup-access.ts';
import { storeApp } from '../actors/app-in-storage.ts';
import { AGENT, fetchFile } from '../support/setup-agent.ts';
import { serveAnsweredApp } from './answered-app.ts';
import { startClocked } from './setup/setup-clock.ts';

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
  async 'the link of the start banner'(t) {
    const { storage } = await storeApp(t, START_MS);
    const clock = { nowMs: START_MS };
    const codeHash = hashSecret('a code');
    await storage.writeControl('keepConsoleLink', { codeHash, expiresAtMs: START_MS + 1_000 });
    return { clock, ask: () => storage.writeControl('useConsoleLink', { codeHash, nowMs: clock.nowMs }) };
  },
};

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
  test(`decisions §3: ${name} that was told to be too old stays so when the clock is set back`, async (t) => {
    const { clock, ask, timer } = await make(t);
    clock.nowMs += DAY_MS;
    const told = await ask();
    await timer?.();
    clock.nowMs -= DAY_MS;
    assert.deepEqual(await ask(), told);
    assert.ok(told === false || Number(told) >= 400, `${told}`);
  });
}

test('deadlines are looked at within a second when the clock is set forward, though their timer has hours to go', async (t) => {
  const { storage } = await storeApp(t, START_MS);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = { wallMs: START_MS, passedMs: 0 };
  let dueAtMs: number | null = START_MS + DAY_MS;
  const deadlines = createDeadlines({
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
  await pass(10_000);
  assert.notEqual(dueAtMs, null);
  clock.wallMs += DAY_MS;
  await pass(500);
  await pass(1);
  assert.equal(dueAtMs, null);
});
