/** Envelopes come out as they went in, open for their own route alone, and count once. No Redis here. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { NodeUnreachable, PendingAsks } from '../../../../actors/cluster/bus/asks.ts';
import {
  type EnvelopeHeader,
  EVERYONE,
  type Message,
  openEnvelope,
  packMessage,
  type Route,
  sealEnvelope,
  senderOf,
} from '../../../../actors/cluster/bus/envelope.ts';
import { Inbox } from '../../../../actors/cluster/bus/inbox.ts';
import { openVault } from '../../../../storage/files/vault.ts';

const vault = openVault('', Buffer.alloc(32, 7).toString('base64'));
const AT_MS = 1_800_000_000_000;

// Bodies come from JSON and go there again: no -0, no half of a pair of code units, no name that JSON objects cannot have in JavaScript.
const body = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
  .map((value): unknown => JSON.parse(JSON.stringify(value)));
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.tuple(fc.constant('tell' as const), text, body),
  fc.tuple(fc.constant('announce' as const), text, body),
  fc.tuple(fc.constant('ask' as const), fc.maxSafeNat(), text, body, fc.maxSafeNat()),
  fc.tuple(fc.constant('answer' as const), fc.maxSafeNat(), body),
  fc.tuple(fc.constant('failed' as const), fc.maxSafeNat()),
);
const header: fc.Arbitrary<EnvelopeHeader> = fc.record({ number: fc.maxSafeNat(), previous: fc.maxSafeNat(), sealedAtMs: fc.maxSafeNat() });
const route: fc.Arbitrary<Route> = fc.record({ cell: fc.option(text), addressee: text, sender: text.filter((name) => name !== '') });

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

  test('an envelope opens for no other cell, addressee or sender, and not when a single bit of it was changed', () => {
    fc.assert(
      fc.property(route, route, message, fc.nat(), fc.nat(7), (way, other, said, at, bit) => {
        const wire = sealEnvelope(vault, way, { number: 1, previous: 0, sealedAtMs: AT_MS }, [packMessage(said)]);
        for (const part of ['cell', 'addressee', 'sender'] as const) {
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
    const way = { cell: null, addressee: 'b~bbbbbbbb', sender: 'a~aaaaaaaa' };
    const wire = sealEnvelope(vault, way, { number: 1, previous: 0, sealedAtMs: AT_MS }, [
      packMessage(['tell', 'frames', 'a word of mine']),
    ]);
    for (const part of ['a word', 'frames', 'tell']) assert.equal(wire.includes(part), false, part);
  });
});

interface Heard {
  readonly inbox: Inbox;
  readonly heard: unknown[];
  readonly gaps: () => number;
  readonly warnings: () => number;
  /** One envelope of the sender, as it lies on the wire. */
  wire(addressee: string, number: number, previous: number, sealedAtMs?: number): Buffer;
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
    deliver: (said, from) => heard.push([said[2], from]),
    onGap: () => {
      gaps += 1;
    },
  });
  return {
    inbox,
    heard,
    gaps: () => gaps,
    warnings: () => lines.length,
    wire: (addressee, number, previous, sealedAtMs = nowMs) =>
      sealEnvelope(vault, { cell: null, addressee, sender: SENDER }, { number, previous, sealedAtMs }, [
        packMessage(['tell', 'frames', number]),
      ]),
  };
}

describe('CLUSTER-17: which envelopes count', () => {
  test('one that comes again, or after a later one, is refused; what was sent to everyone has numbers of its own', () => {
    const { inbox, heard, wire } = openInbox();
    const first = wire(SELF, 1, 0);
    const third = wire(SELF, 3, 1);
    const toAll = wire(EVERYONE, 2, 0);
    for (const one of [first, first, third, first, third]) inbox.take(SELF, one);
    for (const one of [toAll, toAll]) inbox.take(EVERYONE, one);
    assert.deepEqual(
      heard,
      [1, 3, 2].map((number) => [number, SENDER]),
    );
    assert.equal(inbox.counts.replayed, 4);
  });

  test('one for another channel, of other cells, keys or of nobody is refused without a throw, and the log says so once', () => {
    const { inbox, heard, wire, warnings } = openInbox();
    const way = { cell: 'east', addressee: SELF, sender: SENDER };
    const stranger = openVault('', Buffer.alloc(32, 8).toString('base64'));
    const head = { number: 1, previous: 0, sealedAtMs: AT_MS };
    const forged = [
      wire(EVERYONE, 1, 0),
      sealEnvelope(vault, way, head, [packMessage(['tell', 'frames', 1])]),
      sealEnvelope(stranger, { ...way, cell: null }, head, [packMessage(['tell', 'frames', 1])]),
      Buffer.from('x'),
      Buffer.alloc(0),
      Buffer.alloc(70_000, 1),
    ];
    for (const one of forged) inbox.take(SELF, one);
    assert.deepEqual(heard, []);
    assert.equal(inbox.counts.unopened, forged.length);
    assert.equal(warnings(), 1);
  });

  test('an old one is refused, and one of an unknown sender leaves no mark behind', () => {
    const { inbox, heard, gaps, wire } = openInbox();
    inbox.take(EVERYONE, wire(EVERYONE, 900, 0, AT_MS - 31_000));
    inbox.take(EVERYONE, wire(EVERYONE, 5, 4, AT_MS - 29_000));
    assert.deepEqual(heard, [[5, SENDER]]);
    assert.equal(inbox.counts.stale, 1);
    assert.equal(gaps(), 0);
    inbox.take(EVERYONE, wire(EVERYONE, 6, 5, AT_MS - 31_000));
    assert.equal(heard.length, 1);
    assert.equal(gaps(), 1, 'it was for this node, and is lost');
  });

  test('an envelope that is missing shows with the next one: on the own channel from the first on, of everyone from what was heard on', () => {
    const { inbox, gaps, wire } = openInbox();
    inbox.take(EVERYONE, wire(EVERYONE, 10, 9));
    inbox.take(EVERYONE, wire(EVERYONE, 12, 10));
    inbox.take(EVERYONE, wire(EVERYONE, 13, 0));
    assert.equal(gaps(), 0, 'nothing is missing, as far as this node can know');
    inbox.take(EVERYONE, wire(EVERYONE, 15, 14));
    assert.equal(gaps(), 1);
    inbox.take(SELF, wire(SELF, 2, 1));
    assert.equal(gaps(), 2, 'the first one for this node');
    inbox.forgive();
    inbox.take(SELF, wire(SELF, 9, 8));
    assert.equal(gaps(), 2, 'it was away itself and knows');
    inbox.take(SELF, wire(SELF, 11, 10));
    assert.equal(gaps(), 3);
  });
});

describe('CLUSTER-18: questions that wait', () => {
  test('only the node that was asked may answer, once', async () => {
    const asks = new PendingAsks(10_000);
    const numbers: number[] = [];
    const asked = asks.open(SENDER, 'drain', (id) => void numbers.push(id));
    const [id = 0] = numbers;
    asks.answered(id, SELF, 'of another');
    asks.failed(id, SELF);
    asks.answered(id, SENDER, 'its own');
    asks.failed(id, SENDER);
    assert.equal(await asked, 'its own');
    const open = asks.open(SENDER, 'drain', () => {});
    asks.failAll('this node ends');
    await assert.rejects(open, NodeUnreachable);
  });
});
