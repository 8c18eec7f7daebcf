/** The two ends of a stream between nodes, and a channel between them that does what a test tells it to. */
import assert from 'node:assert/strict';
import type { Tells } from '../../../../actors/cluster/bus/messages.ts';
import { RemoteTurn, type RemoteTurnOptions } from '../../../../actors/cluster/remote/remote-turn.ts';
import { TurnFeeds } from '../../../../actors/cluster/remote/turn-feed.ts';
import type { FrameSource } from '../../../../actors/frame-source.ts';
import { framesOf } from '../../turns/desk.ts';
import { Clock, framesIn, type OwnedTurn, tick } from './remote-desk.ts';

type Told = Tells['frames'];
export const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** A reader at its own pace, from its own place. */
export class Reader {
  readonly from: number;
  readonly source: FrameSource;
  readonly frames = new Map<number, string>();
  ended = false;
  wakes = 0;
  readonly leave: () => void;
  #next: number;

  constructor(source: FrameSource, from: number) {
    this.source = source;
    this.from = from;
    this.#next = from;
    this.leave = source.subscribe(() => {
      this.wakes += 1;
    });
  }

  /** One slice; true when there may be more. */
  read(maxChars: number): boolean {
    if (this.ended) return false;
    const { text, nextSeq, ended } = this.source.read(this.#next, maxChars);
    assert.ok(nextSeq >= this.#next, 'a cursor only rises');
    for (const [seq, frame] of framesIn(text)) {
      assert.ok(seq >= this.#next && seq < nextSeq, `seq ${seq} within ${this.#next} to ${nextSeq}`);
      this.#next = seq + 1;
      this.frames.set(seq, frame);
    }
    this.#next = nextSeq;
    this.ended = ended;
    return text !== '' && !ended;
  }

  readAll(maxChars = EVERYTHING): void {
    while (this.read(maxChars));
  }

  get types(): string[] {
    return [...this.frames.values()].map((text) => framesOf(text)[0]?.type ?? '');
  }
}

/** Owner, channel and reader's end; the channel loses and repeats, and either side may be cut off from it. */
export class World {
  readonly turn: OwnedTurn;
  readonly clock = new Clock();
  readonly asked: number[] = [];
  readonly warnings: string[] = [];
  queue: Told[] = [];
  isUp = true;
  isAlive = true;
  answersLost = 0;
  takeOverFailures = 0;
  takeOvers = 0;
  left = 0;
  readonly feeds: TurnFeeds;
  readonly remote: RemoteTurn;

  constructor(turn: OwnedTurn, options: Partial<RemoteTurnOptions> = {}) {
    this.turn = turn;
    this.feeds = new TurnFeeds({
      tell: (_, told) => void (this.isUp && this.isAlive && this.queue.push(told)),
      log: { error: (_: unknown, message?: string) => assert.fail(message) },
    });
    this.remote = new RemoteTurn({
      ...{ db: turn.rows.db, appId: turn.rows.appId, turnId: turn.turnId, turn: turn.turn, fromSeq: turn.row.nextSeq },
      refollow: (fromSeq) => this.#answer(fromSeq),
      takeOver: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        this.takeOvers += 1;
        if (this.takeOvers <= this.takeOverFailures) throw new Error('another node has it');
        return turn.recover();
      },
      leave: () => {
        this.left += 1;
        this.feeds.drop('reader', 1);
      },
      lag: (isLagging) => {
        if (this.isUp) this.feeds.lag('reader', 1, isLagging);
      },
      log: { warn: (_: unknown, message?: string) => void this.warnings.push(message ?? '') },
      nowMs: () => this.clock.nowMs,
      timers: this.clock.timers,
      ...options,
    });
    this.feeds.feed('reader', 1, turn.log, this.remote.nextSeq);
  }

  async #answer(fromSeq: number): Promise<'following' | 'idle'> {
    this.asked.push(fromSeq);
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.isUp || !this.isAlive) throw new Error('unreachable');
    if (!this.turn.ended) this.feeds.feed('reader', 1, this.turn.log, fromSeq);
    if (this.answersLost > 0) {
      this.answersLost -= 1;
      throw new Error('no answer');
    }
    return this.turn.ended ? 'idle' : 'following';
  }

  deliver(count: number, times = 1): void {
    for (const told of this.queue.splice(0, count)) for (let n = 0; n < times; n++) this.remote.receive(told);
  }

  cut(): void {
    this.isUp = false;
    this.queue = [];
  }

  /** Only the side that was cut off notices. */
  mend(side: 'owner' | 'reader'): void {
    if (this.isUp) return;
    this.isUp = true;
    if (side === 'reader') this.remote.interrupted();
    else this.feeds.resound();
  }

  die(): void {
    this.isAlive = false;
    this.feeds.dropNode('reader');
  }

  /** Everything that is under way arrives, and `ms` pass. */
  async settle(ms: number): Promise<void> {
    await tick();
    this.deliver(this.queue.length);
    await this.clock.pass(ms);
  }
}
