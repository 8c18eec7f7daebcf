/** A turn told from its rows. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { journalSource } from '../../../actors/turns/journal.ts';
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
