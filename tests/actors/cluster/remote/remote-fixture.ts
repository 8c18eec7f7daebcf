/**
 * A turn whose owner is another node, as small as tests of its stream need it: its rows are written by the real transactions,
 * its frames are said by a real log, and a reader of that log from the start remembers what every other reader has to get.
 */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { errorEvent, FAILED_END, INTERRUPTED, startEvent } from '../../../../actors/turns/events.ts';
import { journalSource, packEntries } from '../../../../actors/turns/journal.ts';
import { type JournalEntry, journalEvent, TurnLog } from '../../../../actors/turns/log.ts';
import { interruption, newAttempt, newBlock, turnMachine } from '../../../../actors/turns/turn-rows.ts';
import type { Block } from '../../../../protocol/catalog/block.ts';
import { renderEvent, type StreamEvent } from '../../../../protocol/runtime/stream-events.ts';
import { transactions as openings } from '../../../../storage/conversations/turn-openings.ts';
import { type CommitTurnInput, readTurn, type TurnRow, transactions as turns } from '../../../../storage/conversations/turns.ts';
import { migrate } from '../../../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../../../storage/migrations/organisation.ts';
import type { Connection } from '../../../../storage/sqlite/connection.ts';
import { openReader, openWriter } from '../../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';

export const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const HOME = { channel: 'sandbox', nowMs: NOW } as const;

/** Rows of one app: written at once, so that a test knows what is committed, and read as the service reads them. */
export interface Rows {
  readonly db: Connection;
  readonly writer: Connection;
  readonly appId: string;
}

export function rowsOfApp(t: TestContext): Rows {
  const path = join(temporaryDir(t), 'organisation.sqlite');
  const writer = openWriter(path);
  // Nothing here is to outlive a power cut; the app itself is of no interest.
  writer.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF');
  migrate(writer, organisationMigrations, 'organisation');
  const db = openReader(path);
  t.after(() => {
    db.close();
    writer.close();
  });
  return { db, writer, appId: 'app_1' };
}

let last = 0;

/** A turn that was just opened, and its owner. */
export class OwnedTurn {
  readonly rows: Rows;
  readonly turnId: string;
  readonly turn: number;
  readonly conversationId: string;
  log: TurnLog;
  /** Every frame that was said, whole, by its seq. */
  readonly said = new Map<number, string>();
  ended = false;
  /** Everything before this seq was committed by the owner. */
  committedSeq = 1;
  #epoch = 1;
  #block = 0;
  #text = '';
  #heard = 0;
  #committing: { readonly events: readonly StreamEvent[]; readonly nextSeq: number; readonly ends: boolean } | null = null;

  constructor(rows: Rows) {
    last += 1;
    this.rows = rows;
    this.turnId = `turn_${last}`;
    this.conversationId = `cnv_${last}`;
    const machine = turnMachine();
    machine.send({ type: 'turn.open', serverCalls: 0, waiting: { reads: 0, confirmations: 0 } });
    const messageId = `msg_${last}`;
    const start = startEvent({ conversationId: this.conversationId, messageId, model: 'm', requestId: 'r' });
    const output = this.#write(() =>
      openings.openTurn(rows.writer, {
        ...{ appId: rows.appId, channel: HOME.channel, turnId: this.turnId, kind: 'message', nowMs: NOW, nextSeq: 1, ended: false },
        ...{ fingerprint: 'f', deviceId: 'd', requestId: 'r', request: '{}', model: 'm', runBy: 'a', person: null, userMessage: null },
        conversationId: this.conversationId,
        fence: { expectedEpoch: null, epoch: 1, owner: 'a' },
        ...{ placeholders: [], messageId, attempt: 1, admission: null, picks: [], invocationChanges: [], resumed: [] },
        state: 'answering',
        snapshot: JSON.stringify(machine.snapshot.context),
        journal: null,
      }),
    );
    if (output.outcome !== 'opened') throw new Error(output.outcome);
    this.turn = output.turn;
    this.log = new TurnLog(0, journalSource(rows.db, this.turn, null));
    this.log.say(start);
    this.log.journalledUpTo(1);
    this.#hear();
  }

  get row(): TurnRow {
    return readTurn(this.rows.db, this.rows.appId, this.turnId) as TurnRow;
  }

  #write<T>(work: () => T): T {
    this.rows.writer.exec('BEGIN IMMEDIATE');
    const output = work();
    this.rows.writer.exec('COMMIT');
    return output;
  }

  #hear(): void {
    for (;;) {
      const { text, nextSeq } = this.log.read(this.#heard, 100_000);
      if (text === '') return;
      this.#heard = nextSeq;
      for (const [seq, frame] of framesIn(text)) this.said.set(seq, frame);
    }
  }

  /** One delta; none while a step is being committed, as in a turn. */
  text(delta: string): void {
    if (this.#committing !== null || this.ended || delta === '') return;
    this.#text += delta;
    this.log.sayText(this.#block, this.#blockId, delta);
    this.#hear();
  }

  get #blockId(): string {
    return `blk_${this.turnId}_${this.#epoch}_${this.#block}`;
  }

  ping(): void {
    if (this.#committing !== null || this.ended) return;
    this.log.say({ type: 'ping' });
    this.#hear();
  }

  /** The block is whole and its rows are written; nobody was told yet. */
  beginCommit(ends = false): void {
    if (this.#committing !== null || this.ended) return;
    const block: Block = { index: this.#block, id: this.#blockId, block_type: 'text', revision: 1, body: { md: this.#text } };
    const events: StreamEvent[] = [{ type: 'block.ready', index: block.index, block }];
    if (ends) events.push({ type: 'turn.end', status: 'completed' });
    const firstSeq = this.log.nextSeq;
    const entries: JournalEntry[] = [...this.log.unjournalled(), ...events.map((event, at) => journalEvent(firstSeq + at, event))];
    const nextSeq = firstSeq + events.length;
    this.commit({
      ...{ nextSeq, ended: ends, state: ends ? 'completed' : 'answering', blocks: [newBlock(block)] },
      journal: { firstSeq: entries[0]?.seq ?? firstSeq, entries: packEntries(entries) },
    });
    this.#committing = { events, nextSeq, ends };
    this.committedSeq = nextSeq;
    // Whoever reads rows may hear it before the owner's own readers.
    for (const [at, event] of events.entries()) this.said.set(firstSeq + at, renderEvent(firstSeq + at, event));
  }

  finishCommit(): void {
    if (this.#committing === null || this.ended) return;
    const { ends, events, nextSeq } = this.#committing;
    this.#committing = null;
    for (const event of events) this.log.say(event);
    this.log.journalledUpTo(nextSeq);
    this.#block += 1;
    this.#text = '';
    this.#hear();
    if (ends) this.#end();
  }

  /** A step that could not be committed: readers are told, the rows stay as they were. */
  abandon(): void {
    if (this.ended) return;
    this.log.say(errorEvent(INTERRUPTED));
    this.log.say(FAILED_END);
    this.#hear();
    this.#end();
  }

  #end(): void {
    this.ended = true;
    this.log.end();
  }

  /** A commit of this turn, behind the fence of whoever owns it. */
  commit(step: Partial<CommitTurnInput>, takesOver = false): void {
    const row = this.row;
    const expectedEpoch = this.#epoch;
    if (takesOver) this.#epoch += 1;
    const input: CommitTurnInput = {
      ...{ ...HOME, appId: this.rows.appId, conversationId: this.conversationId, turn: this.turn, messageId: row.messageId },
      fence: { expectedEpoch, epoch: this.#epoch, owner: takesOver ? 'b' : 'a' },
      ...{ state: row.state, attempt: 1, snapshot: row.snapshot, attemptSeq: row.attemptSeq, nextSeq: row.nextSeq, journal: null },
      ...{ replacesAttempt: false, runBy: takesOver ? 'b' : 'a', blocks: [], invocations: [], ended: false, charge: null, ...step },
    };
    if (!this.#write(() => turns.commitTurn(this.rows.writer, input))) throw new Error('the fence refused');
  }

  /** What another node does with a turn whose owner is gone; nothing when it has ended. */
  recover(): { source: ReturnType<typeof journalSource>; fromSeq: number } {
    if (this.row.endedAtMs === null)
      this.commit(
        interruption(this.row, { ownership: { process: 'b', isLost: () => false }, turnLossesMax: 2, log: { error() {} } }),
        true,
      );
    const { attemptSeq, nextSeq } = this.row;
    return { source: journalSource(this.rows.db, this.turn, nextSeq), fromSeq: attemptSeq };
  }

  /** A new attempt, run by whoever recovered the turn; what the last one said stays in `said`. */
  retry(): void {
    const { row } = this;
    const machine = turnMachine({ state: row.state, snapshot: row.snapshot });
    machine.send({ type: 'turn.retry' });
    const start: StreamEvent = { type: 'turn.start', conversation_id: 'cnv_1', message_id: 'msg_1', model: 'm', request_id: 'r2' };
    this.commit(newAttempt(row, machine, [start]), true);
    this.log = new TurnLog(row.nextSeq, journalSource(this.rows.db, this.turn, null));
    this.log.say(start);
    this.log.journalledUpTo(row.nextSeq + 1);
    this.#heard = row.nextSeq;
    this.ended = false;
  }
}

/** The frames of a slice as they were written, by seq. */
export function framesIn(text: string): [seq: number, text: string][] {
  const parts = text.split('\n\n');
  if (parts.pop() !== '') throw new Error(`not whole frames: ${text.slice(-80)}`);
  return parts.map((part) => [Number(part.slice('id: '.length, part.indexOf('\n'))), `${part}\n\n`]);
}

/** A clock that stands still until it is told to move, and what was to be done at some time. */
export class Clock {
  nowMs = NOW;
  #waiting: { readonly atMs: number; readonly work: () => void }[] = [];

  readonly timers = {
    set: (work: () => void, ms: number) => {
      const entry = { atMs: this.nowMs + ms, work };
      this.#waiting.push(entry);
      return () => {
        this.#waiting = this.#waiting.filter((other) => other !== entry);
      };
    },
  };

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Lets `ms` pass, and whatever is due in it happen in order; promises settle between. */
  async pass(ms: number): Promise<void> {
    await tick();
    const untilMs = this.nowMs + ms;
    for (;;) {
      const due = this.#waiting.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#waiting = this.#waiting.filter((entry) => entry !== due);
      this.nowMs = Math.max(this.nowMs, due.atMs);
      due.work();
      await tick();
    }
    this.nowMs = untilMs;
    await tick();
  }
}

/** The end of a loop tick, with what it planned. */
export async function tick(): Promise<void> {
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve));
}
