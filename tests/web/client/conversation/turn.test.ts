/** Streams that are cut, repeated, merged and taken up again make of a conversation what the whole stream makes of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { type Told, turns } from '../sample-turns.ts';
import { ConversationSteps, essenceOf, TURN_ID } from './conversation-steps.ts';

const RUNS = { numRuns: 300 };

function tellAll(steps: ConversationSteps, told: readonly Told[]): ConversationSteps {
  for (const { seq, event } of told) steps.tell(seq, event);
  return steps;
}

const whole = (told: readonly Told[]): object => essenceOf(tellAll(new ConversationSteps().begin(), told).state);
const withoutPings = (told: readonly Told[]): Told[] => told.filter(({ event }) => event.type !== 'ping');

const FAILED: readonly StreamEvent[] = [
  { type: 'error', code: 'internal', message: 'It broke.', retryable: true },
  { type: 'turn.end', status: 'error' },
];

describe('CLIENT-5: a turn is the same turn however it is told', () => {
  test('cut anywhere and taken up after the last event, as often as it likes', () => {
    const property = fc.property(turns, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 }), (told, places) => {
      const cuts = [...new Set(places.map((place) => place % told.length))].sort((one, other) => one - other);
      const steps = new ConversationSteps().begin();
      [0, ...cuts].forEach((from, index) => {
        if (index > 0) steps.send({ type: 'streamLost', turnId: TURN_ID });
        if (index > 0) steps.open('attach');
        const part = told.slice(from, cuts[index] ?? told.length);
        tellAll(steps, index === 0 ? part : withoutPings(part));
      });
      assert.deepEqual(essenceOf(steps.state), whole(told));
    });
    fc.assert(property, RUNS);
  });

  test('cut anywhere and sent again, which tells it from its start', () => {
    const property = fc.property(turns, fc.nat(1_000), fc.nat(1_000), (told, one, other) => {
      const steps = tellAll(new ConversationSteps().begin(), told.slice(0, one % told.length));
      tellAll(steps.open('send'), withoutPings(told).slice(0, other % told.length));
      tellAll(steps.open('send'), withoutPings(told));
      assert.deepEqual(essenceOf(steps.state), whole(told));
    });
    fc.assert(property, RUNS);
  });

  test('with any of its events told twice', () => {
    const property = fc.property(turns, fc.func(fc.boolean()), (told, isTwice) => {
      const doubled = told.flatMap((each) => (isTwice(each.seq) ? [each, each] : [each]));
      assert.deepEqual(essenceOf(tellAll(new ConversationSteps().begin(), doubled).state), whole(told));
    });
    fc.assert(property, RUNS);
  });

  test('merged of two readings, event by event', () => {
    const property = fc.property(turns, fc.array(fc.boolean(), { maxLength: 200 }), (told, choices) => {
      const [first, second] = [[...told], withoutPings(told)];
      const merged: Told[] = [];
      for (let at = 0; first.length + second.length > 0; at++) {
        const from = (choices[at % Math.max(1, choices.length)] ?? true) && first.length > 0 ? first : second.length > 0 ? second : first;
        merged.push(from.shift() as Told);
      }
      assert.deepEqual(essenceOf(tellAll(new ConversationSteps().begin(), merged).state), whole(told));
    });
    fc.assert(property, RUNS);
  });

  test('told again after its end changes nothing', () => {
    const property = fc.property(turns, fc.boolean(), (told, isSent) => {
      const steps = tellAll(new ConversationSteps().begin(), told);
      const before = essenceOf(steps.state);
      tellAll(steps.open(isSent ? 'send' : 'attach'), told);
      assert.deepEqual(essenceOf(steps.state), before);
    });
    fc.assert(property, RUNS);
  });

  test('interrupted by a crash, and answered by a new attempt', () => {
    const property = fc.property(turns, fc.integer({ min: 1, max: 5 }), (told, place) => {
      const first = told.slice(0, Math.min(place, told.length - 1)).filter(({ event }) => event.type !== 'action.execute');
      const steps = tellAll(new ConversationSteps().begin(), first);
      tellAll(
        steps,
        FAILED.map((event, at) => ({ seq: 1_000_000 + at, event })),
      );
      assert.equal(steps.turn().phase, 'failed');
      steps.send({ type: 'retry', turnId: TURN_ID });
      const again = told.map(({ seq, event }) => ({ seq: 1_000_002 + seq, event }));
      tellAll(steps.open('send'), again);
      const { lastSeq: _, ...turn } = steps.turn();
      const { lastSeq: _whole, ...expected } = tellAll(new ConversationSteps().begin(), told).turn();
      assert.deepEqual(turn, expected);
    });
    fc.assert(property, RUNS);
  });

  test('a replayed block is what it is by now, and an older state of it is not', () => {
    const start: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'm', request_id: 'r' };
    const ready = (revision: number, status: string): StreamEvent => {
      const block = { index: 0, id: 'blk_1', block_type: 'quick_replies', revision, body: { replies: [], status } };
      return { type: 'block.ready', index: 0, block };
    };
    const steps = new ConversationSteps().begin();
    steps.tell(0, start);
    steps.tell(1, ready(2, 'open'));
    steps.tell(2, { type: 'turn.end', status: 'completed' });
    const shown = () => steps.turn().blocks.map((each) => each.phase === 'ready' && each.block.body.status);
    steps.tell(1, ready(2, 'answered'));
    assert.deepEqual(shown(), ['answered']);
    steps.tell(1, ready(1, 'open'));
    assert.deepEqual(shown(), ['answered']);
  });
});
