/** Rounds of the model, as the steps of a turn tell them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelRoundAt } from '../../machines/model-round.ts';
import { packSteps, type TraceStep, unpackSteps } from '../../machines/trace.ts';

function stepsOf(...made: readonly (readonly [event: string, atMs: number, round?: number])[]): readonly TraceStep[] {
  const steps = made.map(([type, atMs, round]) => {
    const effects = round === undefined ? [] : [{ type: 'callModel', round }];
    return { atMs, event: { type }, context: {}, from: 's', to: 's', effects };
  });
  return unpackSteps(packSteps(steps) ?? '').steps;
}

test('REPLAY-2: each step of a round tells when it was asked, when it was over and by what; what lies between rounds tells of none', () => {
  const steps = stepsOf(
    ['turn.open', 100, 1],
    ['block.completed', 300],
    ['round.finished', 400],
    ['block.completed', 450],
    ['calls.settled', 500, 2],
    ['block.completed', 700],
  );
  const first = { round: 1, askedAtMs: 100, endedAtMs: 400, endedBy: 'round.finished' };
  const second = { round: 2, askedAtMs: 500, endedAtMs: null, endedBy: null };
  assert.deepEqual(
    steps.map((_, index) => modelRoundAt(steps, index)),
    [first, first, first, undefined, second, second],
  );
});
