import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import type { Fault, FaultKind } from '../../../tools/turn-checker/faults.ts';
import { TurnChecker } from '../../../tools/turn-checker/turn-checker.ts';
import { type Reading, readFrame } from '../../../web/client/events.ts';
import { FrameDecoder } from '../../../web/client/frames.ts';
import { MODEL_EXAMPLES } from '../../protocol/catalog/examples.ts';
import { COMPONENTS, framesOf, type Told, turns } from './sample-turns.ts';

function readingsOf(text: string): Reading[] {
  const readings: Reading[] = [];
  new FrameDecoder((frame) => readings.push(readFrame(frame))).push(new TextEncoder().encode(text));
  return readings;
}

interface Connection {
  readonly text: string;
  readonly after?: number;
}

/** What is wrong with a turn that came over these connections. */
function faultsOf(connections: readonly Connection[], { remembers = false, isWhole = true, lastsMs = 1_000 } = {}): readonly Fault[] {
  const checker = new TurnChecker({ components: COMPONENTS, remembers });
  for (const { text, after } of connections) {
    checker.attached(0, after);
    for (const reading of readingsOf(text)) checker.take(reading, lastsMs);
  }
  return checker.conclude(isWhole);
}

const kindsOf = (faults: readonly Fault[]): FaultKind[] => faults.map(({ kind }) => kind);
const isPing = ({ event }: Told): boolean => event.type === 'ping';
/** As a replay from rows has them. */
const withoutPings = (told: readonly Told[]): Told[] => told.filter((each) => !isPing(each));
/** The event with a field of a later service. */
const withLater = (event: StreamEvent): StreamEvent => ({ ...event, ...{ later: 1 } });
/** A place in a list of this length, whatever its length. */
const placeIn = (length: number, place: number): number => place % length;

describe('CLIENT-2: a stream as the service tells it has no fault', () => {
  test('whole', () => {
    fc.assert(fc.property(turns, (told) => assert.deepEqual(faultsOf([{ text: framesOf(told) }]), [])));
  });

  test('cut anywhere and re-attached after the last event, as often as it likes', () => {
    const property = fc.property(turns, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 }), (told, places) => {
      const cuts = [...new Set(places.map((place) => placeIn(told.length, place)))].sort((one, other) => one - other);
      const connections = [0, ...cuts].map((from, index): Connection => {
        const part = told.slice(from, cuts[index] ?? told.length);
        // Only what comes on the first connection has its pings for certain.
        return { text: framesOf(index === 0 ? part : withoutPings(part)), ...(from === 0 ? {} : { after: from - 1 }) };
      });
      assert.deepEqual(faultsOf(connections, { remembers: true, lastsMs: 40_000 }), []);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('replayed from its start, with and without its pings', () => {
    const property = fc.property(turns, fc.nat(1_000), fc.boolean(), (told, place, keepsPings) => {
      const first = told.slice(0, placeIn(told.length, place));
      const again = keepsPings ? told : withoutPings(told);
      assert.deepEqual(faultsOf([{ text: framesOf(first) }, { text: framesOf(again) }], { remembers: true, lastsMs: 40_000 }), []);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('waiting before it starts, failing, and answered by a new attempt after a crash', () => {
    const waiting = renderEvent(0, { type: 'ping' }).replace(/^id: 0\n/, '');
    const failed: StreamEvent[] = [
      { type: 'error', code: 'internal', message: 'x', retryable: true },
      { type: 'turn.end', status: 'error' },
    ];
    const property = fc.property(turns, fc.integer({ min: 1, max: 5 }), (told, place) => {
      const first = told.slice(0, Math.min(place, told.length - 1));
      const broken = failed.map((event, at) => ({ seq: 1_000_000 + at, event }));
      const again = told.map(({ seq, event }) => ({ seq: 1_000_002 + seq, event }));
      const text = waiting + framesOf([...first, ...broken, ...again]);
      assert.deepEqual(faultsOf([{ text }]), []);
    });
    fc.assert(property);
  });

  test('refused, or stopped while it waited', () => {
    const refused = framesOf([
      { seq: 0, event: { type: 'error', code: 'quota_exceeded', message: 'x', retryable: false } },
      { seq: 1, event: { type: 'turn.end', status: 'error' } },
    ]);
    const noticed = framesOf([
      { seq: 0, event: { type: 'notice', reason: 'user_limit', message: 'x' } },
      { seq: 1, event: { type: 'turn.end', status: 'completed', billable: false } },
    ]);
    const stopped = framesOf([{ seq: 0, event: { type: 'turn.end', status: 'completed', billable: false, stopped: true } }]);
    for (const text of [refused, noticed, stopped]) assert.deepEqual(faultsOf([{ text }]), []);
  });

  test('with events and fields of a later service', () => {
    const property = fc.property(turns, fc.nat(1_000), (told, place) => {
      const at = 1 + placeIn(told.length - 1, place);
      const frames = told.map(({ seq, event }) => renderEvent(seq < at ? seq : seq + 1, withLater(event)));
      const later = `id: ${at}\nevent: turn.weather\ndata: {"type":"turn.weather","v":1,"seq":${at}}\n\n`;
      assert.deepEqual(faultsOf([{ text: [...frames.slice(0, at), later, ...frames.slice(at)].join('') }]), []);
    });
    fc.assert(property);
  });
});

/** Exactly this one fault, at this event where that is given. */
function assertOne(faults: readonly Fault[], kind: FaultKind, seq?: number): void {
  assert.deepEqual(kindsOf(faults), [kind], JSON.stringify(faults));
  if (seq !== undefined) assert.equal(faults[0]?.seq, seq);
}

describe('CLIENT-3: a fault is found, and named once', () => {
  const spoilt = (name: string, spoil: (told: readonly Told[], place: number) => void): void => {
    test(name, () => fc.assert(fc.property(turns, fc.nat(1_000), spoil), { numRuns: 300 }));
  };

  spoilt('a lost event', (told, place) => {
    const at = placeIn(told.length, place);
    const text = framesOf(told.filter((_, index) => index !== at));
    if (at === told.length - 1) assertOne(faultsOf([{ text }]), 'end.missing');
    else assertOne(faultsOf([{ text }]), 'seq.gap', at + 1);
  });

  spoilt('an event that is lost after a re-attach', (told, place) => {
    const rest = withoutPings(told.slice(1));
    const at = placeIn(rest.length - 1, place);
    const lost = rest[at] as Told;
    const first = { text: framesOf(told.slice(0, 1)) };
    const faults = faultsOf([first, { text: framesOf(rest.filter((each) => each !== lost)), after: 0 }]);
    for (const { kind } of faults) assert.equal(kind, 'seq.gap', JSON.stringify(faults));
    assert.ok(faults.length >= 1, lost.event.type);
  });

  spoilt('an event that comes twice', (told, place) => {
    const at = placeIn(told.length, place);
    const text = framesOf(told.flatMap((each, index) => (index === at ? [each, each] : [each])));
    assertOne(faultsOf([{ text }]), 'seq.repeated', at);
  });

  spoilt('two events the wrong way round', (told, place) => {
    const at = placeIn(told.length - 2, place);
    const swapped = [...told.slice(0, at), told[at + 1] as Told, told[at] as Told, ...told.slice(at + 2)];
    assertOne(faultsOf([{ text: framesOf(swapped) }]), 'seq.order', at);
  });

  spoilt('an event that a re-attached stream tells again', (told, place) => {
    const at = 1 + placeIn(told.length - 1, place);
    const faults = faultsOf([{ text: framesOf(told.slice(0, at)) }, { text: framesOf(told.slice(at - 1)), after: at - 1 }]);
    assertOne(faults, 'seq.repeated', at - 1);
  });

  spoilt('an event that a replay tells otherwise, or leaves out', (told, place) => {
    const shown = withoutPings(told);
    const at = placeIn(shown.length, place);
    const changed = shown.map((each, index) => (index === at ? { ...each, event: withLater(each.event) } : each));
    const first = { text: framesOf(told) };
    assertOne(faultsOf([first, { text: framesOf(changed) }], { remembers: true }), 'replay.differs', shown[at]?.seq);
    if (at === shown.length - 1) return;
    const shorter = shown.filter((_, index) => index !== at);
    assertOne(faultsOf([first, { text: framesOf(shorter) }], { remembers: true }), 'replay.differs', shown[at]?.seq);
  });

  spoilt('a stream that ends too early; one that was cut is no fault of its own', (told, place) => {
    const text = framesOf(told.slice(0, placeIn(told.length, place)));
    assertOne(faultsOf([{ text }]), 'end.missing');
    assert.deepEqual(faultsOf([{ text }], { isWhole: false }), []);
  });

  spoilt('something after the end', (told) => {
    const seq = told.length;
    const after = (event: StreamEvent) => faultsOf([{ text: framesOf([...told, { seq, event }]) }]);
    assertOne(after({ type: 'turn.end', status: 'completed' }), 'end.repeated', seq);
    assertOne(after({ type: 'block.delta', index: 0, text_delta: 'x' }), 'end.followed', seq);
  });

  spoilt('a frame that is no event', (told, place) => {
    const at = placeIn(told.length, place);
    const frames = told.map(({ seq, event }) => renderEvent(seq, event));
    const with_ = (frame: string) => faultsOf([{ text: frames.map((each, index) => (index === at ? frame : each)).join('') }]);
    const { type } = (told[at] as Told).event;
    const only = (faults: readonly Fault[], kind: FaultKind): void => {
      // Without its end a turn is cut off as well.
      assert.deepEqual(kindsOf(faults), at === told.length - 1 ? [kind, 'end.missing'] : [kind]);
    };
    only(with_(`id: ${at}\nevent: ${type}\ndata: {"type":"${type}",\n\n`), 'frame.unreadable');
    only(with_(`id: ${at}\nevent: other\ndata: {"type":"${type}","v":1,"seq":${at}}\n\n`), 'frame.unlike');
    only(with_(`id: ${at + 7}\nevent: ${type}\ndata: {"type":"${type}","v":1,"seq":${at}}\n\n`), 'frame.unlike');
    if (type !== 'ping') only(with_(`id: ${at}\nevent: ${type}\ndata: {"type":"${type}","v":1,"seq":${at}}\n\n`), 'event.malformed');
  });
});

describe('CLIENT-3: blocks, errors and calls that do not fit', () => {
  const start: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'm', request_id: 'r' };
  const block = { index: 0, id: 'blk_1', block_type: 'text' };
  const opened: StreamEvent = { type: 'block.start', ...block };
  const delta: StreamEvent = { type: 'block.delta', index: 0, text_delta: 'Words' };
  const ready: StreamEvent = { type: 'block.ready', index: 0, block: { ...block, revision: 1, body: { md: 'Words' } } };
  const end: StreamEvent = { type: 'turn.end', status: 'completed' };
  const failed: StreamEvent = { type: 'turn.end', status: 'error' };
  const error: StreamEvent = { type: 'error', code: 'internal', message: 'x', retryable: true };
  const execute: StreamEvent = { type: 'action.execute', invocation_id: 'inv_1', name: 'look', params: {}, timeout_ms: 1 };
  const readyAs = (more: object): StreamEvent => ({ ...ready, block: { ...ready.block, ...more } }) as StreamEvent;
  const found = (...events: StreamEvent[]): FaultKind[] =>
    kindsOf(faultsOf([{ text: framesOf([start, ...events].map((event, seq) => ({ seq, event }))) }]));

  const CASES: readonly (readonly [string, FaultKind, readonly StreamEvent[]])[] = [
    ['a delta for a block that nobody announced', 'block.unopened', [delta, opened, ready, end]],
    ['a delta after the block was ready', 'block.closed', [opened, delta, ready, delta, end]],
    ['a block that never becomes ready', 'block.unready', [opened, delta, end]],
    [
      'a block that begins at another place',
      'block.order',
      [{ ...opened, index: 1 }, { ...ready, index: 1, block: { ...ready.block, index: 1 } }, end] as StreamEvent[],
    ],
    ['a block with another id', 'block.changed', [opened, delta, readyAs({ id: 'blk_2' }), end]],
    ['a block that does not fit its schema', 'block.invalid', [opened, delta, readyAs({ body: { text: 'Words' } }), end]],
    [
      'a component that nobody asked for',
      'block.unlisted',
      [{ ...opened, block_type: 'confirm_card' }, readyAs({ block_type: 'confirm_card', body: MODEL_EXAMPLES.confirm_card?.[0] }), end],
    ],
    ['a text that became another one', 'text.differs', [opened, delta, readyAs({ body: { md: 'Other' } }), end]],
    ['a turn without a word', 'end.empty', [end]],
    ['an error that nobody told', 'error.missing', [failed]],
    ['an error in a turn that completes', 'error.alone', [opened, delta, ready, error, end]],
    ['a second start', 'start.repeated', [start, opened, delta, ready, end]],
    ['a call that is not pending', 'action.pending', [opened, delta, ready, execute, end]],
    ['a turn that waits for nothing', 'action.pending', [opened, delta, ready, { type: 'turn.end', status: 'awaiting_tool_results' }]],
  ];
  for (const [name, kind, events] of CASES) {
    test(name, () => {
      const kinds = found(...events);
      assert.ok(kinds.includes(kind), `${kinds}`);
    });
  }

  test('events before turn.start', () => {
    const told = [opened, delta, ready, end].map((event, seq) => ({ seq, event }));
    assert.deepEqual(kindsOf(faultsOf([{ text: framesOf(told) }])), ['start.missing']);
  });

  test('a frame that is too long', () => {
    const checker = new TurnChecker({ components: COMPONENTS });
    checker.attached(0);
    checker.tooLong();
    assert.deepEqual(kindsOf(checker.conclude(false)), ['frame.too_long']);
  });

  test('a stream that is wrong throughout is told in twenty faults at most', () => {
    const many = Array.from({ length: 500 }, (_, seq) => ({ seq: Math.floor(seq / 2), event: delta }));
    assert.equal(faultsOf([{ text: framesOf(many) }]).length, 20);
  });
});
