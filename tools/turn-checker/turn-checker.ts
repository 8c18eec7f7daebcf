/**
 * Checks the events of one turn over all its connections: the order of their numbers, one start and one end, consistent blocks
 * (`block-checker.ts`), nothing lost over a re-attach (`gaps.ts`). It reads no clock and does no I/O.
 *
 * Consequences of a fault are not reported as further faults: a lost `block.start` is one gap, and its deltas add none.
 */

import type { NumberedEvent, Reading } from '../../web/client/events.ts';
import { BlockChecker } from './block-checker.ts';
import type { Fault, FaultKind } from './faults.ts';
import { Gaps } from './gaps.ts';

/** Per turn. Bounds the memory that a stream of faults can take. */
const FAULTS_MAX = 20;
/** After a crash numbers continue at the next multiple (docs/runtime.md). */
const CRASH_STEP = 1_000_000;

/** Faults whose event is skipped by the other checks. */
const PASSED_OVER: readonly FaultKind[] = ['frame.too_long', 'frame.unreadable', 'frame.unlike', 'event.malformed', 'seq.order'];
/** Bounds the check of numbers that a replay leaves out. */
const REPLAY_GAP_MAX = 10_000;

export interface TurnCheckOptions {
  /** Names of components as the handshake lists them, without versions. */
  readonly components: ReadonlySet<string>;
  /** The turn carries `tool_results`: calls that are pending at its end may be from earlier turns. */
  readonly continues?: boolean;
  /** Keeps a hash of every event to compare replays from the start with. Takes about 100 bytes an event. */
  readonly remembers?: boolean;
}

/** FNV-1a: enough to notice that two texts differ. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Before the start, within an attempt, or after the end of one. */
type Phase = 'waiting' | 'running' | 'over';

export class TurnChecker {
  readonly #options: TurnCheckOptions;
  /** Faults that no lost event explains. */
  readonly #faults: Fault[] = [];
  /** Faults, unless they follow from a lost event. */
  readonly #evidence: Fault[] = [];
  readonly #seen: Map<number, number> | undefined;
  readonly #gaps = new Gaps();
  #blocks: BlockChecker;
  #phase: Phase = 'waiting';
  #status: string | undefined;
  #error: NumberedEvent | undefined;
  #wasStarted = false;
  /** An attempt failed: replays no longer have its blocks (CHAT-12). */
  #hasFailed = false;
  #wasNoticed = false;
  #executed = new Set<string>();
  #connections = 0;
  #startedMs = 0;
  #nowMs = 0;
  /** The highest number so far, over all connections. */
  #highest = -1;
  /** The last number of this connection, or the one that it continues after. */
  #last = -1;
  #lastId: number | undefined;

  constructor(options: TurnCheckOptions) {
    this.#options = options;
    this.#seen = options.remembers ? new Map() : undefined;
    this.#blocks = this.#newBlocks();
  }

  /** For `Last-Event-ID` when the client re-attaches; undefined before the first event. */
  get lastEventId(): number | undefined {
    return this.#lastId;
  }

  /** Whether `turn.end` arrived. */
  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** A connection opens: the first one, one that continues after `after`, or a replay from the start. */
  attached(nowMs: number, after?: number): void {
    this.#nowMs = nowMs;
    if (this.#connections === 0) this.#startedMs = nowMs;
    this.#connections += 1;
    this.#last = after ?? -1;
  }

  /** Checks the next frame. */
  take(reading: Reading, nowMs: number): void {
    this.#nowMs = nowMs;
    if (reading.kind === 'broken') {
      this.#fault(reading.fault === 'malformed' ? 'event.malformed' : `frame.${reading.fault}`, reading.seq, reading.problem);
      // Its number is not missing, whatever its content.
      if (reading.seq !== undefined) this.#isNext(reading.seq);
      return;
    }
    if (reading.id === undefined && reading.kind === 'event' && reading.event.type === 'ping') return;
    const seq = reading.kind === 'event' ? reading.event.seq : reading.seq;
    if (reading.id !== undefined) this.#lastId = Math.max(reading.id, this.#lastId ?? 0);
    const isNew = seq > this.#highest;
    if (!this.#isNext(seq)) return;
    if (!isNew) {
      this.#checkReplay(seq, reading.data);
      return;
    }
    if (reading.kind === 'event' && reading.event.type === 'ping') return;
    this.#seen?.set(seq, hashOf(reading.data));
    if (reading.kind === 'event') this.#event(reading.event);
  }

  /** Reports that decoding stopped at a frame that is too long. */
  tooLong(): void {
    this.#fault('frame.too_long', this.#highest < 0 ? undefined : this.#highest, 'the frame after this one');
  }

  /**
   * All faults, at the end of the turn's last connection. `isWhole`: the HTTP response is complete, not cut off.
   */
  conclude(isWhole: boolean): readonly Fault[] {
    if (isWhole && this.#phase !== 'over') this.#fault('end.missing', this.#seqOrNone(), `the last event was ${this.#highest}`);
    if (this.#error !== undefined && this.#phase === 'over') {
      this.#suspect('error.alone', this.#error.seq, `turn.end says ${this.#status}`);
    }
    const evidence = this.#evidence;
    const lost = this.#gaps.lost(evidence.length > 0, this.#status === 'error', this.#nowMs - this.#startedMs);
    // Consequences of a skipped event are no further faults.
    const isExplained = this.#faults.some(({ kind }) => PASSED_OVER.includes(kind));
    if (lost.length === 0) return [...this.#faults, ...(isExplained ? [] : evidence)].slice(0, FAULTS_MAX);
    const shown = evidence[0] === undefined ? '' : ` (${evidence[0].kind}: ${evidence[0].problem})`;
    const gaps = lost.map(({ from, to }): Fault => {
      const numbers = from === to ? `${from} is missing` : `${from} to ${to} are missing`;
      return { kind: 'seq.gap', seq: to + 1, problem: `${numbers}${shown}` };
    });
    return [...this.#faults, ...gaps].slice(0, FAULTS_MAX);
  }

  #seqOrNone(): number | undefined {
    return this.#highest < 0 ? undefined : this.#highest;
  }

  #fault(kind: FaultKind, seq: number | undefined, problem: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ kind, seq, problem });
  }

  #suspect(kind: FaultKind, seq: number, problem: string): void {
    if (this.#evidence.length < FAULTS_MAX) this.#evidence.push({ kind, seq, problem });
  }

  #newBlocks(): BlockChecker {
    const isLostSince = (seq: number): boolean => this.#gaps.hasAfter(seq);
    return new BlockChecker(this.#options.components, isLostSince, (kind, seq, problem) => {
      // No lost event makes a block invalid.
      if (kind === 'block.invalid' || kind === 'block.unlisted') this.#fault(kind, seq, problem);
      else this.#suspect(kind, seq, problem);
    });
  }

  /** Notes a number. False when it is late or repeated, so that the event is to be skipped. */
  #isNext(seq: number): boolean {
    const expected = this.#last + 1;
    if (seq >= expected) {
      this.#checkOmitted(expected, Math.min(seq - 1, this.#highest));
      if (seq > this.#highest + 1 && seq > expected && seq % CRASH_STEP !== 0) {
        this.#gaps.add({ from: Math.max(expected, this.#highest + 1), to: seq - 1, mayBePings: this.#connections > 1 });
      }
      this.#last = seq;
      this.#highest = Math.max(this.#highest, seq);
      return true;
    }
    if (this.#gaps.fill(seq)) this.#fault('seq.order', seq, `it arrived after ${this.#last}`);
    else this.#fault('seq.repeated', seq, `it arrived again after ${this.#last}`);
    return false;
  }

  /** A replay has every event of the first delivery, except pings. */
  #checkOmitted(from: number, to: number): void {
    if (this.#seen === undefined || this.#hasFailed) return;
    for (let seq = from; seq <= Math.min(to, from + REPLAY_GAP_MAX); seq++) {
      if (this.#seen.has(seq)) this.#fault('replay.differs', seq, 'it arrived before and is missing');
    }
  }

  /** A replay from the start repeats events unchanged (STREAM-4). */
  #checkReplay(seq: number, data: string): void {
    const before = this.#seen?.get(seq);
    if (before !== undefined && before !== hashOf(data) && !this.#hasFailed) this.#fault('replay.differs', seq, data.slice(0, 100));
  }

  #event(event: NumberedEvent): void {
    if (event.type === 'turn.start') {
      this.#start(event.seq);
      return;
    }
    if (this.#phase === 'over') {
      const kind = event.type === 'turn.end' ? 'end.repeated' : 'end.followed';
      this.#fault(kind, event.seq, event.type);
      return;
    }
    switch (event.type) {
      case 'error':
        this.#error = event;
        return;
      case 'notice':
        this.#wasNoticed = true;
        return;
      case 'turn.end':
        this.#end(event);
        return;
      case 'ping':
        return;
    }
    if (!this.#wasStarted) {
      this.#suspect('start.missing', event.seq, `the first was ${event.type}`);
      this.#wasStarted = true;
    }
    if (event.type === 'block.start') this.#blocks.start(event);
    else if (event.type === 'block.delta') this.#blocks.delta(event);
    else if (event.type === 'block.ready') this.#blocks.ready(event);
    else this.#executed.add(event.invocation_id);
  }

  /** The start of the turn, or of a new attempt after a failed one (CHAT-12). */
  #start(seq: number): void {
    const isAgain = this.#phase === 'over' && this.#status === 'error';
    if (this.#phase === 'over' && !isAgain) this.#fault('end.followed', seq, 'turn.start');
    else if (this.#wasStarted && !isAgain) this.#suspect('start.repeated', seq, 'no turn.end with error came before it');
    this.#phase = 'running';
    this.#status = undefined;
    this.#error = undefined;
    this.#wasStarted = true;
    this.#wasNoticed = false;
    this.#executed = new Set();
    this.#blocks = this.#newBlocks();
  }

  #end(event: Extract<NumberedEvent, { type: 'turn.end' }>): void {
    const { seq, status } = event;
    this.#phase = 'over';
    this.#status = status;
    if (status === 'error') {
      this.#hasFailed = true;
      if (this.#error === undefined) this.#suspect('error.missing', seq, 'turn.end');
      this.#error = undefined;
      return;
    }
    this.#blocks.end(seq);
    const isSilent = this.#blocks.readyCount === 0 && !this.#wasNoticed && !event.stopped;
    if (status === 'completed' && isSilent) this.#suspect('end.empty', seq, 'no block, and nobody stopped it');
    const pending = new Set((event.pending ?? []).map(({ invocation_id: id }) => id));
    if (status !== 'completed' && pending.size === 0) this.#suspect('action.pending', seq, `${status}, and nothing is pending`);
    for (const id of this.#executed) {
      if (!pending.has(id)) this.#suspect('action.pending', seq, `${id} has an action.execute and is not pending`);
    }
    for (const call of this.#options.continues ? [] : (event.pending ?? [])) {
      const isRun = call.risk !== 'read' || call.executor !== 'client' || this.#executed.has(call.invocation_id);
      if (!isRun) this.#suspect('action.pending', seq, `${call.invocation_id} is pending and has no action.execute`);
    }
  }
}
