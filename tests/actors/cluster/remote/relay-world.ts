/** The two ends of a relayed turn, and lines between them that do what a test tells them to. */
import assert from 'node:assert/strict';
import { type Found, RelayedTurn } from '../../../../actors/cluster/remote/relayed-turn.ts';
import { feedTurn } from '../../../../actors/cluster/remote/turn-feed.ts';
import type { FrameSource } from '../../../../actors/frame-source.ts';
import { journalSource } from '../../../../actors/turns/journal.ts';
import { framesOf } from '../../turns/fixture.ts';
import { LinePair } from './lines.ts';
import { Clock, framesIn, type OwnedTurn, tick } from './remote-fixture.ts';

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
  read(): boolean {
    if (this.ended) return false;
    const { text, nextSeq, ended } = this.source.read(this.#next, 16_384);
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

  readAll(): void {
    while (this.read());
  }

  get types(): string[] {
    return [...this.frames.values()].map((text) => framesOf(text)[0]?.type ?? '');
  }
}

/** Owner, lines and the reader's end. */
export class World {
  readonly turn: OwnedTurn;
  readonly clock = new Clock();
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  pair = new LinePair();
  isAlive = true;
  /** Times that the turn is looked for in vain. */
  failures = 0;
  /** When it was looked for. */
  readonly soughtAtMs: number[] = [];
  readonly relayed: RelayedTurn;

  constructor(turn: OwnedTurn, found?: Found) {
    this.turn = turn;
    feedTurn(this.pair.owner, turn.log, this.#log());
    this.relayed = new RelayedTurn({
      line: this.pair.reader,
      fromSeq: turn.row.attemptSeq,
      find: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return found ?? this.#find();
      },
      committed: (endSeq) => journalSource(turn.rows.db, turn.turn, endSeq),
      turnId: turn.turnId,
      log: { warn: (_: unknown, message?: string) => void this.warnings.push(message ?? '') },
      timers: this.clock.timers,
    });
  }

  #log() {
    return { error: (fields: unknown) => void this.errors.push(String((fields as { err: unknown }).err)) };
  }

  /** As PlacedTurns finds it: at its owner while it runs there, otherwise in rows, after what was left open is ended. */
  #find(): Found {
    this.soughtAtMs.push(this.clock.nowMs);
    if (this.soughtAtMs.length <= this.failures) throw new Error('nobody can say');
    const { turn } = this;
    if (!this.isAlive || turn.ended) return turn.recover();
    this.pair = new LinePair();
    feedTurn(this.pair.owner, turn.log, this.#log());
    return { line: this.pair.reader, fromSeq: turn.row.attemptSeq };
  }

  /** The owner's process ends; so much of what it said arrives. */
  die(arriving = 0): void {
    this.isAlive = false;
    this.pair.break(arriving);
  }

  /** What was said arrives; no time passes. */
  async arrive(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      await tick();
      this.pair.deliver(EVERYTHING);
    }
    await tick();
  }

  /** Everything that is under way arrives, and `ms` pass. */
  async settle(ms: number): Promise<void> {
    await this.arrive();
    await this.clock.pass(ms);
  }
}
