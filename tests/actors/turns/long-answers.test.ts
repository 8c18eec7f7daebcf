/** However many endless answers are written at once, few characters of them are read at a time, and nobody else's answer waits for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerShare, LongAnswers } from '../../../actors/turns/long-answers.ts';

const PIECE = 1_000;

function fixture(options: { isBusy?: () => boolean } = {}) {
  const clock = { nowMs: 0 };
  const all = new LongAnswers({ nowMs: () => clock.nowMs, charsPerS: 1_000_000, ...options });
  /** A turn that reads on for as long as it may. */
  const turn = (app: string) => {
    const share: AnswerShare = all.join(app);
    const state = { share, chars: 0 };
    const read = () => {
      do state.chars += PIECE;
      while (state.chars < 10_000_000 && share.take(PIECE));
    };
    share.onShare = () => queueMicrotask(read);
    queueMicrotask(read);
    return state;
  };
  const pass = async (ms: number) => {
    for (const endMs = clock.nowMs + ms; clock.nowMs < endMs; ) {
      clock.nowMs += 10;
      all.look();
      for (let n = 0; n < 10; n++) await Promise.resolve();
    }
  };
  return { all, clock, turn, pass };
}

test('STREAM-19: the beginning of an answer is read as it comes, and one long answer alone as fast as a process may', async () => {
  const { clock, turn, pass, all } = fixture();
  const many = Array.from({ length: 1_000 }, () => all.join('app'));
  assert.ok(many.every((share) => share.take(3_999)));
  assert.equal(all.waiting, 0);
  const alone = turn('app');
  await pass(2_000);
  assert.ok(alone.chars >= 1_900_000 && alone.chars <= 2_500_000, `${alone.chars} characters`);
  assert.ok(alone.share.lateMs < 250, `at ${clock.nowMs}`);
});

test('STREAM-19: a thousand endless answers are read at a million characters a second in all, and a page of another app soon comes', async () => {
  const { turn, pass } = fixture();
  const endless = Array.from({ length: 1_000 }, () => turn('endless'));
  const sum = () => endless.reduce((chars, state) => chars + state.chars, 0);
  await pass(1_000);
  const before = sum();
  await pass(10_000);
  assert.ok(sum() - before <= 11_000_000, `${sum() - before} characters`);
  assert.ok(endless.filter(({ share }) => share.lateMs >= 10_000).length > 800, 'nearly all of them come late');
  const other = turn('other');
  await pass(300);
  assert.ok(other.chars > 60_000, `${other.chars} characters`);
  assert.ok(other.share.lateMs < 250);
});

test('STREAM-19: nothing is shared out while what was shared out is on its way into rows; a turn that ends waits no more', async () => {
  let isBusy = true;
  const { all, turn, pass } = fixture({ isBusy: () => isBusy });
  const [first, second] = [turn('app'), turn('app')];
  await pass(1_000);
  assert.deepEqual([first.chars, second.chars, all.waiting], [4_000, 4_000, 2]);
  first.share.leave();
  isBusy = false;
  await pass(20);
  assert.deepEqual([first.chars, all.waiting], [4_000, 1]);
  assert.ok(second.chars > 60_000);
  second.share.leave();
  assert.equal(all.waiting, 0);
});

test('STREAM-19: an answer that nobody reads is read in longer stretches, so that few of them are under way', async () => {
  const { all } = fixture();
  const [read, unread] = [all.join('app'), all.join('app')];
  unread.isRead = false;
  const shared: string[] = [];
  read.onShare = () => shared.push('read');
  unread.onShare = () => shared.push('unread');
  assert.ok(unread.take(4_000));
  assert.ok(unread.take(255_000));
  assert.equal(read.take(4_000), false, 'the other one is before it');
  assert.deepEqual(shared, ['unread']);
});
