import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../support/client.ts';
import { startHostileProxy } from '../../support/hostile-proxy.ts';
import { startPacedModel } from '../../support/paced-model.ts';
import { startService } from '../../support/service.ts';
import { loadTest } from './program.ts';

test('LOAD-6: behind a proxy that drops, doubles, delays and cuts, each is counted and named', async (t) => {
  const model = await startPacedModel(t);
  model.pace({ words: 60, delayMs: 2 });
  const service = await startService(t, { env: model.env() });
  const { liveKey } = await createTestApp(service.baseUrl, service.operatorToken);
  const proxy = await startHostileProxy(t, service.baseUrl, {
    dropEvery: 500,
    doubleEvery: 777,
    delayEvery: 1_100,
    delayMs: 2_000,
    cutEvery: 900,
  });

  const args = [
    '--url',
    proxy.url,
    '--key',
    liveKey,
    '--live',
    '--clients',
    '6',
    '--duration',
    '12s',
    '--pause',
    '1200ms',
    '--mix',
    'new=60,continue=40',
  ];
  const { code, report, stdout, html } = await loadTest(t, args);

  assert.ok(report !== undefined, stdout);
  const counts = (all: readonly { readonly name: string; readonly count: number }[]) =>
    Object.fromEntries(all.map(({ name, count }) => [name, count]));
  const faults = counts(report.faults);
  const { done } = proxy;
  t.diagnostic(
    `the proxy: ${JSON.stringify(done)}; found: ${JSON.stringify(faults)}, ${JSON.stringify(counts(report.errors))}, ${report.pauses.count} pauses`,
  );
  assert.ok(Math.min(done.dropped, done.doubled, done.delayed, done.cut) > 0, `the proxy did something of each: ${JSON.stringify(done)}`);
  assert.deepEqual(
    Object.keys(faults).filter((name) => !['seq.gap', 'end.missing', 'seq.repeated'].includes(name)),
    [],
    stdout,
  );
  assert.equal((faults['seq.gap'] ?? 0) + (faults['end.missing'] ?? 0), done.dropped, 'every event that was dropped');
  assert.equal(faults['seq.repeated'], done.doubled, 'every event that came twice');
  assert.deepEqual(counts(report.errors), { cut: done.cut }, 'every stream that was cut');
  // A busy machine may add a pause of its own.
  assert.ok(report.pauses.count >= done.delayed, 'every event that was held back');
  assert.ok(report.pauses.longest_ms >= 1_900);
  assert.equal(report.turns.recovered, done.cut, 'a stream that was cut was taken up again, and was whole then');
  assert.equal(report.turns.faulty, done.dropped + done.doubled);

  assert.equal(code, 1);
  assert.match(stdout, /× seq\.gap: events were lost/);
  assert.match(stdout, /× seq\.repeated: an event arrived twice/);
  assert.match(stdout, /× cut: /);
  assert.match(stdout, /times a stream said nothing for over 1200 ms/);
  assert.match(report.faults[0]?.example.request_id ?? '', /^loadtest-/);
  assert.match(html, /<svg/);
});
