/** Envelopes come out as they went in, open for their own route alone, and count once. No Redis here. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import {
  type EnvelopeHeader,
  type Message,
  openEnvelope,
  packMessage,
  type Route,
  sealEnvelope,
  senderOf,
} from '../../../../actors/cluster/bus/envelope.ts';
import { Inbox } from '../../../../actors/cluster/bus/inbox.ts';
import { openVault } from '../../../../storage/secrets/vault.ts';

const vault = openVault('', Buffer.alloc(32, 7).toString('base64'));
const AT_MS = 1_800_000_000_000;

// Bodies come from JSON and go there again: no -0, no half of a pair of code units, no name that JSON objects cannot have in JavaScript.
const body = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
  .map((value): unknown => JSON.parse(JSON.stringify(value)));
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const message: fc.Arbitrary<Message> = fc.tuple(text, body);
const header: fc.Arbitrary<EnvelopeHeader> = fc.record({ number: fc.maxSafeNat(), sealedAtMs: fc.maxSafeNat() });
const route: fc.Arbitrary<Route> = fc.record({ cell: fc.option(text), sender: text.filter((name) => name !== '') });

describe('CLUSTER-17: envelopes between nodes', () => {
  test('what was sealed opens as it was, whatever it says and whoever says it', () => {
    fc.assert(
      fc.property(route, header, fc.array(message, { maxLength: 20 }), (way, head, messages) => {
        const wire = sealEnvelope(vault, way, head, messages.map(packMessage));
        assert.equal(senderOf(wire), way.sender);
        assert.deepEqual(openEnvelope(vault, way, wire), { ...head, messages });
      }),
    );
  });

  test('an envelope opens for no other cell or sender, and not when a single bit of it was changed', () => {
    fc.assert(
      fc.property(route, route, message, fc.nat(), fc.nat(7), (way, other, said, at, bit) => {
        const wire = sealEnvelope(vault, way, { number: 1, sealedAtMs: AT_MS }, [packMessage(said)]);
        for (const part of ['cell', 'sender'] as const) {
          if (way[part] === other[part]) continue;
          assert.throws(() => openEnvelope(vault, { ...way, [part]: other[part] }, wire), part);
        }
        const changed = Buffer.from(wire);
        const index = at % changed.length;
        changed.writeUInt8(changed.readUInt8(index) ^ (1 << bit), index);
        // The sender's name is taken from the bytes themselves, so a changed one is another sender.
        assert.throws(() => openEnvelope(vault, { ...way, sender: senderOf(changed) ?? '' }, changed));
      }),
    );
  });

  test('nothing of a message can be read in its envelope', () => {
    const way = { cell: null, sender: 'a~aaaaaaaa' };
    const wire = sealEnvelope(vault, way, { number: 1, sealedAtMs: AT_MS }, [packMessage(['pairingChanged', 'a word of mine'])]);
    for (const part of ['a word', 'pairingChanged']) assert.equal(wire.includes(part), false, part);
  });
});

interface Heard {
  readonly inbox: Inbox;
  readonly heard: unknown[];
  readonly gaps: () => number;
  readonly warnings: () => number;
  /** One envelope of the sender, as it lies on the wire. */
  wire(number: number, sealedAtMs?: number): Buffer;
}

const SELF = 'b~bbbbbbbb';
const SENDER = 'a~aaaaaaaa';

function openInbox(nowMs = AT_MS): Heard {
  const heard: unknown[] = [];
  let gaps = 0;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const inbox = new Inbox({
    cell: null,
    self: SELF,
    vault,
    log,
    nowMs: () => nowMs,
    deliver: (said, from) => heard.push([said[1], from]),
    onGap: () => {
      gaps += 1;
    },
  });
  return {
    inbox,
    heard,
    gaps: () => gaps,
    warnings: () => lines.length,
    wire: (number, sealedAtMs = nowMs) =>
      sealEnvelope(vault, { cell: null, sender: SENDER }, { number, sealedAtMs }, [packMessage(['pairingChanged', number])]),
  };
}

describe('CLUSTER-17: which envelopes count', () => {
  test('one that comes again, or after a later one, is refused', () => {
    const { inbox, heard, wire } = openInbox();
    const [first, second] = [wire(1), wire(2)];
    for (const one of [first, first, second, first, second]) inbox.take(one);
    assert.deepEqual(
      heard,
      [1, 2].map((number) => [number, SENDER]),
    );
    assert.equal(inbox.counts.replayed, 3);
  });

  test('one of other cells, keys or of nobody is refused without a throw, and the log says so once', () => {
    const { inbox, heard, warnings } = openInbox();
    const way = { cell: null, sender: SENDER };
    const stranger = openVault('', Buffer.alloc(32, 8).toString('base64'));
    const head = { number: 1, sealedAtMs: AT_MS };
    const forged = [
      sealEnvelope(vault, { ...way, cell: 'east' }, head, [packMessage(['pairingChanged', 1])]),
      sealEnvelope(stranger, way, head, [packMessage(['pairingChanged', 1])]),
      Buffer.from('x'),
      Buffer.alloc(0),
      Buffer.alloc(70_000, 1),
    ];
    for (const one of forged) inbox.take(one);
    assert.deepEqual(heard, []);
    assert.equal(inbox.counts.unopened, forged.length);
    assert.equal(warnings(), 1);
  });

  test('what this node announced itself is not heard', () => {
    const { inbox, heard } = openInbox();
    inbox.take(sealEnvelope(vault, { cell: null, sender: SELF }, { number: 1, sealedAtMs: AT_MS }, [packMessage(['pairingChanged', 1])]));
    assert.deepEqual([heard, inbox.counts.unopened], [[], 0]);
  });

  test('an old one is refused, and one of an unknown sender leaves no mark behind', () => {
    const { inbox, heard, gaps, wire } = openInbox();
    inbox.take(wire(900, AT_MS - 31_000));
    inbox.take(wire(5, AT_MS - 29_000));
    assert.deepEqual(heard, [[5, SENDER]]);
    assert.equal(inbox.counts.stale, 1);
    assert.equal(gaps(), 0);
    inbox.take(wire(6, AT_MS - 31_000));
    assert.equal(heard.length, 1);
    assert.equal(gaps(), 1, 'it was for this node, and is lost');
  });

  test('an envelope that is missing shows with the next one, from the first on that was heard of its sender', () => {
    const { inbox, gaps, wire } = openInbox();
    inbox.take(wire(10));
    inbox.take(wire(11));
    assert.equal(gaps(), 0, 'nothing is missing, as far as this node can know');
    inbox.take(wire(13));
    assert.equal(gaps(), 1);
    inbox.forgive();
    inbox.take(wire(20));
    assert.equal(gaps(), 1, 'it was away itself and knows');
    inbox.take(wire(22));
    assert.equal(gaps(), 2);
  });
});
