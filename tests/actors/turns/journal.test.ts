/** A turn told from its rows, and its entries in them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { journalSource, packEntries, unpackEntries } from '../../../actors/turns/journal.ts';
import type { JournalEntry } from '../../../actors/turns/log.ts';
import { OwnedTurn, rowsOfApp } from '../cluster/remote/remote-fixture.ts';
import { readOn } from './fixture.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
/** More commits than are read at a time. */
const BLOCKS = 20;

function sayBlocks(turn: OwnedTurn, blocks: number): void {
  for (let n = 0; n < blocks; n++) {
    turn.text(`block ${n}`);
    turn.beginCommit();
    turn.finishCommit();
  }
}

/** A turn whose first attempt was interrupted, and whose second one says something else and ends. */
function retriedTurn(rows: ReturnType<typeof rowsOfApp>, blocks: number): { turn: OwnedTurn; endSeq: number } {
  const turn = new OwnedTurn(rows);
  sayBlocks(turn, blocks);
  turn.recover();
  const endSeq = turn.row.nextSeq;
  turn.retry();
  turn.text('another answer');
  turn.beginCommit(true);
  turn.finishCommit();
  return { turn, endSeq };
}

test('STREAM-16: an attempt that has ended never tells what a later one says', (t) => {
  const rows = rowsOfApp(t);
  const { turn, endSeq } = retriedTurn(rows, 1);
  for (const maxChars of [1, EVERYTHING]) {
    const { frames, ended, nextSeq } = readOn(journalSource(rows.db, turn.turn, endSeq), 0, maxChars);
    assert.deepEqual(
      frames.map(({ type }) => type),
      ['turn.start', 'error', 'turn.end'],
      'its blocks were replaced',
    );
    assert.deepEqual([ended, nextSeq], [true, endSeq]);
  }
  const { row } = turn;
  const second = readOn(journalSource(rows.db, turn.turn, row.nextSeq), row.attemptSeq, EVERYTHING);
  assert.deepEqual(
    second.frames.map(({ type }) => type),
    ['turn.start', 'block.delta', 'block.ready', 'turn.end'],
  );
});

test('STREAM-16: a reader of an attempt whose blocks were replaced meanwhile is told its end, however many there were', (t) => {
  const rows = rowsOfApp(t);
  const { turn, endSeq } = retriedTurn(rows, BLOCKS);
  const { frames } = readOn(journalSource(rows.db, turn.turn, endSeq), 1, EVERYTHING);
  assert.deepEqual(
    frames.map(({ type }) => type),
    ['error', 'turn.end'],
  );
});

test('STREAM-4, STREAM-10: a turn of one commit is told from its own row alone, start and all', (t) => {
  const rows = rowsOfApp(t);
  const turn = new OwnedTurn(rows);
  turn.text('the whole answer');
  turn.beginCommit(true);
  turn.finishCommit();
  assert.equal(rows.db.statement('SELECT count(*) AS n FROM turn_journal').get()?.n, 0);
  const { text, ended } = journalSource(rows.db, turn.turn, turn.row.nextSeq).read(0, EVERYTHING);
  assert.equal(text, [...turn.said.values()].join(''));
  assert.ok(ended);
});

test('STREAM-3, STREAM-16: how an attempt ended is told to its readers also once the next one has ended', (t) => {
  const rows = rowsOfApp(t);
  const turn = new OwnedTurn(rows);
  turn.recover();
  const endSeq = turn.row.nextSeq;
  turn.retry();
  turn.recover();
  for (const [from, to] of [
    [0, endSeq],
    [turn.row.attemptSeq, turn.row.nextSeq],
  ] as const) {
    const { frames } = readOn(journalSource(rows.db, turn.turn, to), from, EVERYTHING);
    assert.deepEqual(
      frames.map(({ type }) => type),
      ['turn.start', 'error', 'turn.end'],
    );
  }
});

test('STREAM-7, STREAM-16: a reader of an attempt is told its end alone, however many attempts were begun meanwhile', (t) => {
  const rows = rowsOfApp(t);
  const turn = new OwnedTurn(rows);
  turn.recover();
  const endSeq = turn.row.nextSeq;
  turn.retry();
  turn.recover();
  turn.retry();
  // One that ends before the newest attempt, and one that ends nowhere, as for a process whose turn was taken over.
  for (const to of [turn.row.attemptSeq, null]) {
    for (const maxChars of [1, EVERYTHING]) {
      const { frames, ended, nextSeq } = readOn(journalSource(rows.db, turn.turn, to), 0, maxChars);
      assert.deepEqual(
        frames.map(({ type }) => type),
        ['turn.start', 'error', 'turn.end'],
      );
      assert.deepEqual([ended, nextSeq], [true, endSeq]);
    }
  }
});

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
