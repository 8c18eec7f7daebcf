/** Limits of the gateway that hold for all nodes of a cell together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Announcer, silentAnnouncer } from '../../actors/announcements.ts';
import { createSharedCounts, ownCounts, type SharedCounts } from '../../actors/cluster/bus/shared-counts.ts';
import {
  authenticateOperator,
  followConsoleLink,
  issueConsoleLink,
  logIn,
  openConsole,
  sessionCookie,
} from '../../gateway/console/operator-session.ts';
import { perMinute, RateBuckets } from '../../gateway/rate-limit.ts';
import type { RuntimeCaller } from '../../gateway/route.ts';
import type { Services } from '../../gateway/services.ts';
import { DEFAULT_APP_SETTINGS } from '../../protocol/console/app-settings.ts';
import { Refusal } from '../../protocol/errors.ts';
import { openVault } from '../../storage/secrets/vault.ts';
import { openStorage } from '../../storage/storage.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const TOKEN = 'operator-token-of-this-test';

/** Counts of two nodes over a bus that carries them at once; what was sent is kept. */
function twoNodes() {
  const sent: (readonly (readonly [string, number])[])[] = [];
  // A bus has one listener of a kind.
  const handlers: ((message: { counts: readonly (readonly [string, number])[] }) => void)[] = [];
  const busOf = (self: number): Announcer => ({
    ...silentAnnouncer,
    announce(_kind, message) {
      const { counts } = message as { counts: readonly (readonly [string, number])[] };
      sent.push(counts);
      handlers[1 - self]?.({ counts });
    },
    listen(_kind, handler) {
      handlers[self] = handler as never;
    },
  });
  return { here: createSharedCounts(busOf(0)), there: createSharedCounts(busOf(1)), sent };
}

function caller(deviceId: string): RuntimeCaller {
  const app = { id: 'app_1', settings: DEFAULT_APP_SETTINGS };
  return { app, deviceId, organisationId: 'org_1', channel: 'live', person: null } as unknown as RuntimeCaller;
}

function passes(count: () => void, tries: number): number {
  let passed = 0;
  for (let n = 0; n < tries; n++) {
    try {
      count();
      passed += 1;
    } catch (error) {
      assert.ok(error instanceof Refusal && error.code === 'rate_limited');
    }
  }
  return passed;
}

test('CLUSTER-23: requests that passed at one node are told within 50 ms, together, and fill the buckets of the other', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000_000;
  const { here, there, sent } = twoNodes();
  const [one, other] = [new RateBuckets(() => nowMs, here), new RateBuckets(() => nowMs, there)];
  const limits = [perMinute('chat', 'device', 20), perMinute('chat', 'app', 600)];
  assert.equal(
    passes(() => one.pass(limits, caller('d1')), 15),
    15,
  );
  assert.equal(other.left(limits[0] as never, caller('d1')), 20);
  t.mock.timers.tick(50);
  assert.deepEqual(
    sent.map((counts) => counts.map(([, count]) => count)),
    [[15, 15]],
    'one message for both buckets',
  );
  assert.equal(other.left(limits[0] as never, caller('d1')), 5);
  assert.equal(
    passes(() => other.pass(limits, caller('d1')), 10),
    5,
    'what is refused is not counted',
  );
  t.mock.timers.tick(50);
  assert.equal(
    passes(() => one.pass(limits, caller('d1')), 5),
    0,
  );
  assert.equal(
    passes(() => one.pass(limits, caller('d2')), 5),
    5,
    'another device is none of it',
  );
  nowMs += 6_000;
  assert.deepEqual([one.left(limits[0] as never, caller('d1')), other.left(limits[0] as never, caller('d1'))], [2, 2]);
});

test('CLUSTER-23: a bucket that was idle here for long holds what another node counts in it now, no more and no less', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000_000;
  const { here, there } = twoNodes();
  const [one, other] = [new RateBuckets(() => nowMs, here), new RateBuckets(() => nowMs, there)];
  const limit = perMinute('chat', 'device', 20);
  for (const pauseMs of [0, 600_000]) {
    nowMs += pauseMs;
    assert.equal(
      passes(() => one.pass([limit], caller('d1')), 20),
      20,
    );
    t.mock.timers.tick(50);
    assert.equal(other.left(limit, caller('d1')), 0);
  }
  nowMs += 30_000;
  assert.deepEqual([one.left(limit, caller('d1')), other.left(limit, caller('d1'))], [10, 10]);
});

test('CLUSTER-23: a session has 120 requests a minute at all nodes together, told at once', () => {
  let nowMs = 0;
  const { here, there } = twoNodes();
  const nodes = [new RateBuckets(() => nowMs, here), new RateBuckets(() => nowMs, there)];
  let turn = 0;
  assert.equal(
    passes(() => nodes[turn++ % 2]?.passSession('ses_1'), 300),
    120,
  );
  nowMs += 59_999;
  assert.equal(
    passes(() => nodes[0]?.passSession('ses_1'), 5),
    0,
  );
  nowMs += 1;
  assert.equal(
    passes(() => nodes[turn++ % 2]?.passSession('ses_1'), 300),
    120,
  );
});

test('CLUSTER-23: everybody who counts at a node hears of the counts of the others', () => {
  const { here, there } = twoNodes();
  const heard: string[] = [];
  there.listen((bucket, count) => heard.push(`first ${bucket} ${count}`));
  there.listen((bucket, count) => heard.push(`second ${bucket} ${count}`));
  here.tell('session ses_1', 1);
  assert.deepEqual(heard, ['first session ses_1 1', 'second session ses_1 1']);
});

test('CLUSTER-23: a count that names no bucket of ours changes nothing', () => {
  const handlers: ((bucket: string, count: number) => void)[] = [];
  const counts: SharedCounts = { count() {}, tell() {}, listen: (handler) => void handlers.push(handler) };
  const buckets = new RateBuckets(() => 0, counts);
  const limit = perMinute('chat', 'device', 20);
  for (const name of ['login 10.0.0.1', 'device', 'device x chat app_1 d1', '', 'planet 20 chat app_1 d1']) handlers[0]?.(name, 20);
  assert.equal(buckets.left(limit, caller('d1')), 20);
});

test('CLUSTER-23: failed logins are counted at all nodes together, and a login takes them back everywhere', () => {
  let nowMs = 1_000_000;
  const { here, there } = twoNodes();
  const nodeOf = (counts: SharedCounts) => {
    const services = {
      config: { operatorToken: TOKEN },
      storage: { layout: { operatorToken: '' }, vault: openVault('', Buffer.alloc(32).toString('base64')) },
      counts,
      nowMs: () => nowMs,
    } as unknown as Services;
    openConsole(services);
    return (token: string, address = '10.0.0.1') => {
      try {
        logIn(token, address, services);
        return 'passed';
      } catch (error) {
        assert.ok(error instanceof Refusal);
        return error.code;
      }
    };
  };
  const [one, other] = [nodeOf(here), nodeOf(there)];
  for (let n = 0; n < 4; n++) assert.equal(one('wrong'), 'invalid_token');
  assert.equal(other(TOKEN), 'passed');
  assert.equal(one('wrong'), 'invalid_token');
  assert.equal(one(TOKEN), 'passed', 'the login at the other node took the four back');
  for (const attempt of [one, other, one, other, one]) assert.equal(attempt('wrong'), 'invalid_token');
  assert.deepEqual([one(TOKEN), other(TOKEN), other(TOKEN, '10.0.0.2')], ['rate_limited', 'rate_limited', 'passed']);
  nowMs += 60_000;
  assert.deepEqual([one(TOKEN), other(TOKEN)], ['passed', 'passed']);
});

test('CLUSTER-2, CONSOLE-5: a one-time link opens one session, at whichever node, within 15 minutes, and that session is known at all', async (t) => {
  const dataDir = temporaryDir(t);
  let nowMs = 1_000_000;
  const nodes = [1, 2].map(() => {
    const storage = openStorage({ dataDir, masterKey: undefined, shared: true, onFatal: assert.fail });
    t.after(() => storage.close());
    return {
      config: { operatorToken: undefined, publicUrl: undefined },
      storage,
      counts: ownCounts,
      nowMs: () => nowMs,
    } as unknown as Services;
  });
  const [here, there] = nodes as [Services, Services];
  const codeIn = (link: string) => new URL(link, 'http://localhost').searchParams.get('once') ?? '';
  const link = await issueConsoleLink(here);
  assert.match(link, /^\/console\?once=[\w-]{32}$/);
  const opened = await Promise.all([there, here, there].map((node) => followConsoleLink(codeIn(link), node)));
  const sessions = opened.filter((session) => session !== undefined);
  assert.equal(sessions.length, 1);
  const cookie = sessionCookie(sessions[0] ?? null, here).split(';')[0] ?? '';
  for (const node of nodes) authenticateOperator((name) => (name === 'cookie' ? cookie : ''), 'GET', node);
  assert.equal(await followConsoleLink('guess', there), undefined);
  const late = await issueConsoleLink(there);
  nowMs += 15 * 60_000;
  assert.equal(await followConsoleLink(codeIn(late), here), undefined);
});
