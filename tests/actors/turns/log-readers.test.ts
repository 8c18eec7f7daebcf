import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TurnLog } from '../../../actors/turns/log.ts';
import type { StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { Fixture, flattened, Reader, Rows, readOn, withoutPings } from './fixture.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const START: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'offline', request_id: 'r' };
const END: StreamEvent = { type: 'turn.end', status: 'completed' };
const PING: StreamEvent = { type: 'ping' };

type Act =
  | { readonly do: 'text'; readonly delta: string; readonly times: number }
  | { readonly do: 'event'; readonly event: StreamEvent }
  | { readonly do: 'closeBlock' | 'tick' | 'beginCommit' | 'finishCommit' }
  | { readonly do: 'join'; readonly at: number }
  | { readonly do: 'read'; readonly reader: number; readonly maxChars: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    // Text in any units, halves of surrogate pairs too; now and then so much that a commit lets it leave memory.
    arbitrary: fc.record({
      do: fc.constant('text' as const),
      delta: fc.string({
        unit: fc.oneof(fc.constantFrom('a', '"', '\n', '\ud83d', '\ude00', '⟦email_1⟧'), fc.string({ unit: 'grapheme', maxLength: 1 })),
        minLength: 1,
        maxLength: 12,
      }),
      times: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 20_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      event: fc.constantFrom<StreamEvent>(PING, START, { type: 'block.start', index: 1, id: 'blk_1', block_type: 'text' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('closeBlock' as const, 'tick' as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('beginCommit' as const, 'finishCommit' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const), at: fc.nat({ max: 20 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      reader: fc.nat({ max: 5 }),
      maxChars: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant(100_000)),
    }),
  },
);

function perform(act: Act, fixture: Fixture, readers: Reader[]): void {
  switch (act.do) {
    case 'text':
      fixture.text(act.delta.repeat(act.times));
      return;
    case 'event':
      fixture.event(act.event);
      return;
    case 'tick':
      fixture.log.flush();
      return;
    case 'join':
      readers.push(new Reader(act.at));
      return;
    case 'read':
      readers[act.reader % readers.length]?.read(fixture.log, act.maxChars);
      return;
    default:
      fixture[act.do]();
  }
}

test('STREAM-4: a reader from any seq, at any pace, gets what a reader from 0 gets, from memory or from the journal', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 4 }),
      fc.array(acts, { minLength: 10, maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 2_000 }),
      (firstSeq, script, pace) => {
        const rows = new Rows();
        const fixture = new Fixture(new TurnLog(firstSeq, rows), rows);
        // What an attempt before this one had said.
        for (let seq = 0; seq < firstSeq; seq++) {
          rows.entries.push({ seq, event: START });
          fixture.said.push({ type: START.type, index: undefined });
        }
        const readers = [new Reader(0)];
        for (const act of script) perform(act, fixture, readers);
        fixture.event(END);
        fixture.log.end();
        const all = readOn(fixture.log, 0, EVERYTHING);
        assert.equal(all.ended, true);
        assert.equal(all.nextSeq, fixture.log.nextSeq);
        assert.deepEqual(flattened(all.frames), fixture.said);
        const seqs = all.frames.map((frame) => frame.seq);
        assert.ok(
          seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] as number)),
          'seq rises',
        );
        for (const reader of readers) {
          while (reader.read(fixture.log, pace));
          assert.equal(reader.ended, true);
          const expected = withoutPings(all.frames).filter((frame) => frame.seq >= reader.from);
          assert.deepEqual(withoutPings(reader.frames), expected, `from ${reader.from}`);
        }
      },
    ),
    { numRuns: 100 },
  );
});
