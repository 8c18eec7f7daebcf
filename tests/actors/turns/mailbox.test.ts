/** The model is read no faster than rows and readers take what it says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnLog } from '../../../actors/turns/log.ts';
import { LongAnswers } from '../../../actors/turns/long-answers.ts';
import { TurnMailbox } from '../../../actors/turns/mailbox.ts';

function fixture() {
  const calls: string[] = [];
  const run = { pause: () => calls.push('pause'), resume: () => calls.push('resume'), abort: () => calls.push('abort') };
  let isBusy = true;
  const all = new LongAnswers({ isBusy: () => isBusy });
  const mailbox = new TurnMailbox({ abandon: (error) => assert.fail(String(error)) }, all.join('app'));
  mailbox.upstream = run;
  const shareOut = () => {
    isBusy = false;
    all.look();
  };
  return { calls, run, mailbox, shareOut };
}

test('STREAM-17: while a commit is under way the upstream waits beyond 64 events, or beyond 2 KB of words in fewer, and is read on once they are done', () => {
  for (const [held, chars, over] of [
    [64, 1, 1],
    [2, 1_024, 1],
    [1, 0, 2_049],
  ] as const) {
    const { calls, mailbox } = fixture();
    let done = 0;
    mailbox.hold();
    for (let n = 0; n < held; n++) mailbox.do(() => done++, chars);
    assert.deepEqual(calls, [], 'as much as may be held');
    mailbox.do(() => done++, over);
    assert.deepEqual(calls, ['pause']);
    mailbox.release();
    mailbox.resume();
    assert.deepEqual([done, calls], [held + 1, ['pause', 'resume']]);
  }
});

test('STREAM-17: while every reader is slow the upstream waits, a new round too; one that reads on, or none at all, lets it go on', () => {
  const { calls, run, mailbox } = fixture();
  const log = new TurnLog(0, null);
  log.turn = mailbox;
  const readers = [{}, {}] as const;
  const leave = readers.map(() => log.subscribe(() => {}));
  log.slow(readers[0], true);
  assert.deepEqual(calls, [], 'the other one reads');
  log.slow(readers[1], true);
  mailbox.upstream = run;
  assert.deepEqual(calls, ['pause', 'pause']);
  log.slow(readers[0], false);
  assert.deepEqual(calls.slice(2), ['resume']);
  log.slow(readers[0], true);
  for (const [at, reader] of readers.entries()) {
    log.slow(reader, false);
    leave[at]?.();
  }
  assert.equal(calls.at(-1), 'resume', 'whoever goes away does not stop a turn');
});

test('STREAM-18: nobody keeps the upstream waiting for ever', () => {
  const { calls, mailbox } = fixture();
  mailbox.readersLag(true);
  mailbox.pinged();
  mailbox.pinged();
  mailbox.readersLag(false);
  mailbox.readersLag(true);
  assert.deepEqual(calls, ['pause', 'resume']);
});

test('STREAM-19: the upstream waits while the turn has had its share of what long answers may say, whoever reads', () => {
  const { calls, mailbox, shareOut } = fixture();
  mailbox.read(10_000);
  mailbox.readersLag(true);
  mailbox.readersLag(false);
  assert.deepEqual(calls, ['pause']);
  shareOut();
  assert.deepEqual(calls, ['pause', 'resume']);
});
