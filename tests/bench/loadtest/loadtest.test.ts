import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { VISIT_KINDS } from '../../../bench/loadtest/slo.ts';
import { createOperator, createTestApp } from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { type Ended, loadTest, startLoadTest } from './program.ts';

/** One line, exit code 2, and nothing that looks like a report. */
function assertRefused({ code, stdout, stderr, report }: Ended, words: RegExp): void {
  assert.equal(code, 2, stdout + stderr);
  assert.match(stderr, words);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  assert.doesNotMatch(stderr, /\n\s+at /);
  assert.equal(stdout, '');
  assert.equal(report, undefined);
}

test('LOAD-4, LOAD-5, LOAD-6, LOAD-8: every kind of visit, with two keys, and every stream whole', async (t) => {
  const service = await startService(t);
  const apps = [await createTestApp(service.baseUrl, service.operatorToken), await createTestApp(service.baseUrl, service.operatorToken)];
  const keys = apps.flatMap(({ liveKey }) => ['--key', liveKey]);
  const mix = VISIT_KINDS.map((kind) => `${kind}=1`).join(',');
  const load = ['--rate', '25', '--arrivals', 'poisson', '--ramp', '1s', '--duration', '6s', '--mix', mix];

  const { code, report, stdout, html } = await loadTest(t, ['--url', `${service.baseUrl}/v1`, ...keys, '--live', ...load]);

  assert.ok(report !== undefined, stdout);
  assert.deepEqual([report.faults, report.errors], [[], []], stdout);
  assert.equal(code, 0, stdout);
  assert.equal(report.target.model, 'offline');
  assert.equal(report.goodput.share, 1);
  assert.equal(report.turns.ended, report.turns.begun);
  assert.deepEqual(report.visits.map(({ kind }) => kind).sort(), [...VISIT_KINDS].sort());
  for (const { kind, begun, ended, called_no_action: withoutCall } of report.visits) {
    assert.equal(ended, begun, kind);
    assert.equal(withoutCall, 0, kind);
  }
  const visits = report.visits.reduce((sum, { begun }) => sum + begun, 0);
  assert.ok(report.turns.ended > visits - (report.visits.find(({ kind }) => kind === 'history')?.begun ?? 0), 'calls take a second turn');
  assert.ok((report.times.history_read?.count ?? 0) > 0);
  assert.ok(
    (report.times.first_delta?.p50 ?? 0) > 0 && (report.times.turn?.max ?? 0) >= (report.times.turn?.p50 ?? Number.POSITIVE_INFINITY),
  );
  assert.match(stdout, /^first delta /m);
  assert.match(html, /^<!doctype html>/);
  const operator = createOperator(service.baseUrl, service.operatorToken);
  for (const { appId } of apps) {
    const { json } = await operator('GET', `/apps/${appId}/conversations`);
    assert.ok((json as { conversations: unknown[] }).conversations.length > 10, 'keys alternate');
  }
});

test('LOAD-7: an SLO that cannot be kept ends with 1', async (t) => {
  const service = await startService(t);
  const { code, report, stdout } = await loadTest(t, [
    ...['--url', service.baseUrl, '--key', service.testKey, '--rate', '5', '--duration', '2s', '--slo', 'turn=0.001'],
  ]);
  assert.equal(code, 1, stdout);
  assert.equal(report?.goodput.share, 0);
  assert.match(stdout, /goodput is 0 %, and 99 % are asked for/);
});

describe('LOAD-7: Ctrl-C', () => {
  /** A service whose model says one word and then nothing until `release`. */
  async function slowService(
    t: TestContext,
  ): Promise<{ readonly service: RunningService; readonly key: string; readonly release: () => void }> {
    let release = (): void => {};
    const wait = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The turn before the load is answered at once.
    const upstream = await startUpstream(t, (_, n) => (n === 0 ? [{ text: 'Hello' }] : [{ text: 'One ' }, { wait }, { text: 'two' }]));
    t.after(() => release());
    const service = await startService(t, { env: upstreamEnv(upstream) });
    const { liveKey } = await createTestApp(service.baseUrl, service.operatorToken);
    return { service, key: liveKey, release };
  }

  test('once: open streams end, and the report is of what ran', async (t) => {
    const { service, key, release } = await slowService(t);
    const started = startLoadTest(t, ['--url', service.baseUrl, '--key', key, '--live', '--clients', '3', '--duration', '10m']);
    await started.said(/open 3/);
    started.child.kill('SIGINT');
    release();
    const { code, report, stdout, stderr } = await started.ended;
    assert.equal(code, 130, stdout + stderr);
    assert.equal(report?.turns.whole, 3, stdout);
    assert.equal(report?.verdict.stopped_by, 'SIGINT');
    assert.match(stdout, /3 turns in/);
    assert.match(stdout, /It was stopped before its time \(SIGINT\)/);
  });

  test('that a terminal sends to npm and to it at once is one', async (t) => {
    const { service, key, release } = await slowService(t);
    const started = startLoadTest(t, ['--url', service.baseUrl, '--key', key, '--live', '--clients', '3', '--duration', '10m']);
    await started.said(/open 3/);
    started.child.kill('SIGINT');
    started.child.kill('SIGTERM');
    release();
    const { report, stdout } = await started.ended;
    assert.deepEqual([report?.turns.whole, report?.errors], [3, []], stdout);
  });

  test('twice: nothing is waited for, and what was open is counted', async (t) => {
    const { service, key } = await slowService(t);
    const started = startLoadTest(t, ['--url', service.baseUrl, '--key', key, '--live', '--clients', '3', '--duration', '10m']);
    await started.said(/open 3/);
    started.child.kill('SIGTERM');
    await started.said(/Ending/);
    // Signals that come close to the first one are the same press of keys: somebody presses until it ends.
    const pressing = setInterval(() => started.child.kill('SIGINT'), 100);
    // A press that comes while a process is taken down ends it by the signal, whatever it does.
    await started.said(/It was stopped before its time/);
    clearInterval(pressing);
    const { code, report, stdout } = await started.ended;
    assert.equal(code, 143, stdout);
    assert.deepEqual(
      report?.errors.map(({ name, count }) => [name, count]),
      [['unfinished', 3]],
    );
  });
});

test('LOAD-7: stopped before it began, it says so', async (t) => {
  // Takes connections and says nothing.
  const silent = createServer(() => {});
  const asked = new Promise((resolve) => silent.once('request', resolve));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const started = startLoadTest(t, ['--url', url, '--key', 'rd_pk_test_abcdefgh']);
  await asked;
  started.child.kill('SIGINT');
  const { code, stderr, report } = await started.ended;
  assert.deepEqual([code, report], [130, undefined]);
  assert.match(stderr, /^loadtest: stopped before it started\.$/m);
});

describe('LOAD-1: what cannot begin', () => {
  test('an unknown option, a file that cannot be written', async (t) => {
    assertRefused(await loadTest(t, ['--rte', '3']), /^loadtest: Unknown option '--rte'/);
    assertRefused(
      await loadTest(t, ['--url', 'http://127.0.0.1:1', '--key', 'k', '--html', '/nowhere/report.html']),
      /cannot be written \(ENOENT\)/,
    );
  });

  test('an address that does not answer, and one where something else does', async (t) => {
    const other = createServer((_, res) => res.writeHead(404, { 'Content-Type': 'text/html' }).end('<h1>Nothing here</h1>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    assertRefused(await loadTest(t, ['--url', url, '--key', 'rd_pk_test_abcdefgh']), /answers, but not as the Assistant Service does/);
    await new Promise((resolve) => other.close(resolve));
    assertRefused(
      await loadTest(t, ['--url', url, '--key', 'rd_pk_test_abcdefgh']),
      /does not answer \(.*ECONNREFUSED.*nothing listens there/,
    );
  });

  test('a revoked key, an app that is not live, a limit that is met by the first turn, a model that is away', async (t) => {
    const upstream = await startUpstream(t, () => [{ status: 401 }]);
    const service = await startService(t, { env: upstreamEnv(upstream) });
    const operator = createOperator(service.baseUrl, service.operatorToken);
    const { appId, liveKey, testKey } = await createTestApp(service.baseUrl, service.operatorToken);
    const at = ['--url', service.baseUrl];

    assertRefused(await loadTest(t, [...at, '--key', testKey]), /the first turn was refused \(internal \(in the stream\)/);

    await operator('PATCH', `/apps/${appId}`, { messages_per_minute_per_address: 1 });
    await loadTest(t, [...at, '--key', testKey]);
    assertRefused(
      await loadTest(t, [...at, '--key', testKey]),
      /the first turn was refused \(429 rate_limited: .*raise the limits of the app/,
    );

    const { keys } = (await operator('GET', `/apps/${appId}/keys`)).json as { keys: { id: string }[] };
    for (const { id } of keys) await operator('DELETE', `/apps/${appId}/keys/${id}`);
    assertRefused(await loadTest(t, [...at, '--key', liveKey, '--live']), /is refused \(401 invalid_key: .*list the keys that work/);
  });
});

describe('LOAD-2: live keys', () => {
  test('are refused by their shape before anything is sent', async (t) => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const key of ['rd_pk_live_abcdefgh', 'rdui_pk_live_abcdefgh']) {
      assertRefused(await loadTest(t, ['--url', url, '--key', key]), /is a live key, and live turns cost money: .*--live/);
    }
    assert.deepEqual(asked, []);
  });

  test('are refused by what the service says of them before a turn is sent', async (t) => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(`${req.method} ${req.url}`);
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"channel":"published","version":1,"available":true,"config":{}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    assertRefused(await loadTest(t, ['--url', url, '--key', 'a_key_of_another_shape']), /is a live key/);
    assert.deepEqual(asked, ['GET /v1/apps/config']);
  });
});
