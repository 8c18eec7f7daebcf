/** Where the time of a turn went, made of its steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kept, KeptEvent } from '../../../machines/trace.ts';
import { phasesOf } from '../../../web/console/traces/phases.ts';
import { msWords, type Span, scaleOf, spansOf } from '../../../web/console/traces/spans.ts';
import { storyOf } from '../../../web/console/traces/traces.ts';

const step = (atMs: number, event: KeptEvent, ...effects: KeptEvent[]) => ({ atMs, event, from: 'a', to: 'b', effects, node: '' });
const rounds = (first: Kept, second: Kept) => ({
  steps: [
    step(1_000, { type: 'turn.open' }, { type: 'sendStart' }, { type: 'callModel', round: 1 }),
    step(1_500, { type: 'round.finished', cost: first }, { type: 'runCalls' }),
    step(1_750, { type: 'calls.settled' }, { type: 'callModel', round: 2 }),
    step(1_760, { type: 'block.completed' }, { type: 'sendBlock' }),
    step(1_900, { type: 'round.finished', cost: second }, { type: 'endTurn' }),
  ],
});

test('TRIAL-5: each round is told by its parts, which follow each other without a gap, with the calls between', () => {
  const trace = rounds(
    { admittedMs: 5, preparedMs: 20, firstMs: 400, inputTokens: 900, outputTokens: 20 },
    { preparedMs: 0, firstMs: 100, inputTokens: 950, outputTokens: 60 },
  );
  const phases = phasesOf(trace);
  assert.deepEqual(
    phases.map(({ kind, round, fromMs, tookMs }) => [kind, round, fromMs, tookMs]),
    [
      ['admit', 0, 995, 5],
      ['find', 1, 1_000, 20],
      ['model', 1, 1_020, 400],
      ['say', 1, 1_420, 80],
      ['call', 1, 1_500, 250],
      ['find', 2, 1_750, 0],
      ['model', 2, 1_750, 100],
      ['say', 2, 1_850, 50],
    ],
  );
});

test('TRIAL-5: a round that said nothing, one whose clock ran ahead, and steps of before are told without nonsense', () => {
  const silent = phasesOf(rounds({ preparedMs: 20 }, { preparedMs: 1, firstMs: 9_999 }));
  assert.deepEqual(
    silent.map(({ kind, tookMs }) => [kind, tookMs]),
    [
      ['find', 20],
      ['model', 480],
      ['call', 250],
      ['find', 1],
      ['model', 149],
      ['say', 0],
    ],
  );
  assert.deepEqual(
    phasesOf(rounds(null, null)).map(({ kind }) => kind),
    ['call'],
  );
});

test('MODEL-41: the wait for the first word names the models that failed in it', () => {
  const fallbacks = [{ askedFirst: 'one', kind: 'busy' }];
  const phases = phasesOf(rounds({ preparedMs: 20, firstMs: 400, answeredBy: 'two', fallbacks }, { preparedMs: 0, firstMs: 100 }));
  assert.deepEqual(
    phases.flatMap(({ kind, round, fallbacks: failed }) => (failed === undefined ? [] : [[kind, round, failed]])),
    [['model', 1, 'one failed (busy)']],
  );
});

test('TRIAL-5: what was kept on disk is one row with a bar for each commit, below what it kept', () => {
  const own = rounds({ preparedMs: 20, firstMs: 400 }, { preparedMs: 0, firstMs: 100 });
  const steps = own.steps.map((one, at) => ({ ...one, committed: { commit: at + 1, atMs: one.atMs + 3, frames: [] } }));
  const spans = spansOf([{ machine: 'chat-turn', version: '', instance: '1', requestId: null, steps }]);
  const kept = spans.at(-1);
  assert.deepEqual([kept?.kind, kept?.note, kept?.bars.length], ['commit', '5 writes', 5]);
  assert.deepEqual(new Set(spans.map(({ kind }) => kind)), new Set(['find', 'model', 'say', 'call', 'commit']));
});

test('REPLAY-1: time that a machine spends in a state is a row, that in which a person is waited for is none, and of a panel a row leads to what changed', () => {
  const steps = [
    { ...step(0, { type: 'dispatch' }), from: 'requested', to: 'pending.clean' },
    { ...step(9_000, { type: 'execution.started' }), from: 'pending.clean', to: 'executing' },
    { ...step(9_200, { type: 'execution.settled' }), from: 'executing', to: 'succeeded' },
  ];
  const about = { version: '', instance: 'i', requestId: null };
  const [only, ...others] = spansOf([{ machine: 'invocation', ...about, steps }]);
  assert.deepEqual([only?.name, only?.kind, only?.bars, others], ['executing', 'call', [{ fromMs: 9_000, tookMs: 200 }], []]);
  const panel = [
    { ...step(0, { type: 'session.claimed' }), from: '{"a":"pending","b":"pending"}', to: '{"a":"done","b":"pending"}' },
    { ...step(500, { type: 'step.reported' }), from: '{"a":"done","b":"pending"}', to: '{"a":"done","b":"done"}' },
  ];
  const [led] = spansOf([{ machine: 'step-panel', ...about, steps: panel }]);
  assert.deepEqual([led?.name, led?.bars, led?.facts[0]], ['b', [{ fromMs: 0, tookMs: 500 }], ['Led to', 'b: pending → done']]);
});

test('TRIAL-5: the scale begins with the first bar, cuts long silences out and says how long they were, and its ticks are round', () => {
  const span = (fromMs: number, tookMs: number): Span => ({ kind: 'call', name: '', note: '', bars: [{ fromMs, tookMs }], facts: [] });
  const plain = scaleOf([span(1_000, 400), span(1_400, 100)]);
  assert.deepEqual([plain.placeOf(1_000), plain.placeOf(1_500), plain.cuts.length, plain.wholeMs], [0, 1, 0, 500]);
  assert.deepEqual(
    plain.ticks.map(({ words }) => words),
    ['0 ms', '100 ms', '200 ms', '300 ms', '400 ms', '500 ms'],
  );
  const cut = scaleOf([span(0, 100), span(60_000, 100)]);
  assert.deepEqual([cut.cuts.length, cut.cutMs, cut.wholeMs, cut.placeOf(60_100)], [1, 59_900, 200, 1]);
  assert.ok(cut.placeOf(30_000) <= cut.placeOf(60_000));
  assert.equal(scaleOf([]).wholeMs, 1);
});

test('REPLAY-8: steps and bars have one clock, whose zero is the earliest of both', () => {
  const { steps } = rounds({ admittedMs: 47, preparedMs: 20, firstMs: 400 }, { preparedMs: 0, firstMs: 100 });
  const trace = { machine: 'chat-turn', version: '', instance: '1', requestId: null, steps };
  const spans = spansOf([trace]);
  const scale = scaleOf(spans, storyOf([trace]));
  assert.deepEqual(
    steps.map(({ atMs }) => scale.clockOf(atMs)),
    ['47 ms', '547 ms', '797 ms', '807 ms', '947 ms'],
  );
  assert.deepEqual([spans[0]?.name, scale.clockOf(spans[0]?.bars[0].fromMs ?? 0), scale.placeOf(1_900)], ['Admission', '0 ms', 1]);
});

test('REPLAY-8: a time is told in the unit that people read it in', () => {
  assert.deepEqual([402, 1_840, 59_900, 125_000, 11_040_000].map(msWords), ['402 ms', '1.84 s', '1 min 0 s', '2 min 5 s', '3 h 4 min']);
});
