/** Where the time of a turn went, made of its steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kept, KeptEvent } from '../../../machines/trace.ts';
import { phasesOf } from '../../../web/console/traces/phases.ts';

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
      ['wait', 1, 1_020, 400],
      ['model', 1, 1_420, 80],
      ['call', 1, 1_500, 250],
      ['find', 2, 1_750, 0],
      ['wait', 2, 1_750, 100],
      ['model', 2, 1_850, 50],
    ],
  );
});

test('TRIAL-5: a round that said nothing, one whose clock ran ahead, and steps of before are told without nonsense', () => {
  const silent = phasesOf(rounds({ preparedMs: 20 }, { preparedMs: 1, firstMs: 9_999 }));
  assert.deepEqual(
    silent.map(({ kind, tookMs }) => [kind, tookMs]),
    [
      ['find', 20],
      ['wait', 480],
      ['call', 250],
      ['find', 1],
      ['wait', 149],
      ['model', 0],
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
    [['wait', 1, 'one failed (busy)']],
  );
});
