/** The journal's entries in rows: what is kept of them is what they were. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { packEntries, unpackEntries } from '../../../actors/turns/journal.ts';
import type { JournalEntry } from '../../../actors/turns/log.ts';

const START: JournalEntry = { seq: 1, event: { type: 'block.start', index: 0, id: 'blk_1', block_type: 'text' } };
const RUN: JournalEntry = { seq: 2, deltas: 'blk_1', index: 0, from: 0, ends: [3, 9] };
const READY: JournalEntry = { seq: 4, ready: 'blk_1', index: 0 };
const END: JournalEntry = { seq: 5, event: { type: 'turn.end', status: 'completed', billable: true } };

const USAGE = { minute_left: 3, day_left: 2_000 };

test('STREAM-10: entries are read from rows as they were', () => {
  const card: JournalEntry = { seq: 1, event: { type: 'block.start', index: 0, id: 'blk_1', block_type: 'confirm_card' } };
  const lists: JournalEntry[][] = [
    [],
    [END],
    [START, RUN, READY, END],
    [START, RUN, READY, { ...START, seq: 5 }, { ...RUN, seq: 6 }, { ...READY, seq: 8 }],
    // Parts of a block that goes on, and what only looks like a whole one.
    [RUN, READY],
    [START, RUN],
    [START, READY],
    [START, { ...RUN, from: 2 }, READY],
    [START, { ...RUN, deltas: 'blk_2' }, READY],
    [START, RUN, { ...READY, ready: 'blk_2' }],
    [START, { ...RUN, seq: 3 }, { ...READY, seq: 5 }],
    [START, RUN, { ...READY, seq: 9 }],
    [card, RUN, READY],
    [{ seq: 5, event: { type: 'turn.end', status: 'completed', billable: true, usage: USAGE } }],
    [{ seq: 5, event: { type: 'turn.end', status: 'awaiting_confirmation', billable: false, usage: USAGE } }],
    [{ seq: 5, event: { type: 'turn.end', status: 'completed', billable: true, truncated: true, usage: USAGE } }],
    [{ seq: 5, event: { type: 'turn.end', status: 'error', usage: USAGE } }],
  ];
  for (const entries of lists) assert.deepEqual(unpackEntries(packEntries(entries)), entries);
});

test('STREAM-10: a text block that was said whole is kept as one entry', () => {
  assert.deepEqual((JSON.parse(packEntries([START, RUN, READY, END])) as unknown[]).length, 2);
});

test('STREAM-10: the plain end of a turn is read with its fields in the order in which they were said, and takes few characters', () => {
  const end: JournalEntry = { seq: 5, event: { type: 'turn.end', status: 'completed', billable: true, usage: USAGE } };
  const packed = packEntries([end]);
  assert.equal(JSON.stringify(unpackEntries(packed)), JSON.stringify([end]));
  assert.ok(packed.length < 32, packed);
});
