/** Turns: opened once per (app, turn_id), committed step by step behind the fence, and kept so that they can be replayed. */
import type { TurnState } from '../../protocol/runtime/states.ts';
import { type Charge, recordCharge } from '../billing/usage-ledger.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, integer, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTurnTrace, type NewTrace } from '../traces/traces.ts';
import { deleteBlocks, insertBlocks, type NewBlock } from './blocks.ts';
import { enterPastFence, type Fence, passFence } from './conversations.ts';
import { insertInvocations, type NewInvocation, type Settlement, transactions as settling } from './invocations.ts';

export type TurnKind = 'message' | 'form' | 'continuation';

/** SQL for the ids of a turn's messages, beside a row of `turns`: see the schema on their numbers. */
const QUESTION_OF_TURN = '(SELECT m.id FROM messages m WHERE m.no = turns.id * 2)';
export const ANSWER_OF_TURN = '(SELECT m.id FROM messages m WHERE m.no = turns.id * 2 + 1)';

const turnRow = columns({
  turn: integer.from('id'),
  appId: text,
  turnId: text,
  conversationId: text,
  kind: text.as<TurnKind>(),
  fingerprint: text,
  deviceId: text,
  request: text,
  assistantMessageId: text.from(ANSWER_OF_TURN),
  state: text.as<TurnState>(),
  snapshot: text,
  model: text,
  attemptSeq: integer,
  nextSeq: integer,
  openedAtMs: integer,
  endedAtMs: orNull(integer),
  runBy: text,
  cutOff: integer,
});

export type TurnRow = RowOf<typeof turnRow>;

/** Turns of an app among which one that ended well is sought: some milliseconds where none did. */
const SOUGHT_MAX = 2_000;

/** Whether a turn of the app was answered to its end; most often the first one was. Turns of smoke runs go with their runs. */
export function hasEndedWell(db: Connection, appId: string): boolean {
  const some = 'SELECT id, state FROM turns WHERE app_id = :appId ORDER BY turn_id LIMIT :limit';
  return readValue(db, integer, `SELECT id FROM (${some}) WHERE state = 'completed' LIMIT 1`, { appId, limit: SOUGHT_MAX }) !== undefined;
}

export function readTurn(db: Connection, appId: string, turnId: string): TurnRow | undefined {
  return turnRow.get(db, 'FROM turns WHERE app_id = :appId AND turn_id = :turnId', { appId, turnId });
}

export function readOpenTurns(db: Connection, conversationId: string): TurnRow[] {
  return turnRow.all(db, 'FROM turns WHERE conversation_id = :conversationId AND ended_at_ms IS NULL ORDER BY id', { conversationId });
}

const turnSender = columns({
  deviceId: text,
  openedAtMs: integer,
});

export type TurnSender = RowOf<typeof turnSender>;

export function readTurnSender(db: Connection, turn: number): TurnSender | undefined {
  return turnSender.get(db, 'FROM turns WHERE id = :turn', { turn });
}

export function readAnswerSender(db: Connection, messageId: string): TurnSender | undefined {
  const turn = 'SELECT no / 2 FROM messages WHERE messages.id = :messageId AND no % 2 = 1';
  return turnSender.get(db, `FROM turns WHERE id = (${turn})`, { messageId });
}

const waitingTurn = columns({ turn: integer.from('id'), state: text.as<TurnState>(), snapshot: text });

/**
 * Those of `turns` that wait, together with continuations of their conversation that brought some of the results and made no calls of
 * their own: they wait for the same results.
 */
export function readWaitingTurns(db: Connection, conversationId: string, turns: readonly number[]): RowOf<typeof waitingTurn>[] {
  const from = `FROM turns
    WHERE conversation_id = :conversationId AND state IN ('awaiting_tool_results', 'awaiting_confirmation')
      AND (id IN (SELECT value FROM json_each(:turns))
        OR (kind = 'continuation' AND NOT EXISTS (SELECT 1 FROM invocations WHERE invocations.turn = turns.id)))`;
  return waitingTurn.all(db, from, { conversationId, turns: JSON.stringify(turns) });
}

export function isContinued(db: Connection, turn: number): boolean {
  return db.statement('SELECT state FROM turns WHERE id = :turn').get({ turn })?.state === 'continued';
}

/** Whether a valid signature of the person came with the turn, or with the binding of its device. */
export function wasSigned(db: Connection, turn: number): boolean {
  const row = db.statement(`SELECT request ->> '$.signed' AS signed FROM turns WHERE id = :turn`).get({ turn });
  return row?.signed === 1;
}

/** The person's message that a turn answers. For a continuation, the message that it continues; null when unknown. */
export function readQuestion(db: Connection, turn: number): string | null {
  return (
    readValue(db, orNull(text), `SELECT coalesce(${QUESTION_OF_TURN}, request ->> '$.question') FROM turns WHERE id = :turn`, { turn }) ??
    null
  );
}

const turnStart = columns({ conversationId: text, messageId: text.from(ANSWER_OF_TURN), model: text, requestId: text });

export function readTurnStart(db: Connection, turn: number): RowOf<typeof turnStart> | undefined {
  return turnStart.get(db, 'FROM turns WHERE id = :turn', { turn });
}

const journalRow = columns({ firstSeq: integer, entries: text });

/**
 * With what the row of a turn is opened in the place of its ending. Most endings fit into it: rows that grow push others out of their page,
 * which then costs two pages more in the log and leaves two that are half empty.
 */
export const ENDING_ROOM = ' '.repeat(96);

/** The pieces with the events from `seq` on, in one query: a commit in between would show the ending without what came before it. */
export function readJournal(db: Connection, turn: number, seq: number, limit: number): RowOf<typeof journalRow>[] {
  const from = `FROM turn_journal WHERE turn = :turn
      AND first_seq >= coalesce((SELECT max(first_seq) FROM turn_journal WHERE turn = :turn AND first_seq <= :seq), 0)
    UNION ALL SELECT ending_seq, ending FROM turns WHERE id = :turn AND ending_seq IS NOT NULL
    ORDER BY first_seq LIMIT :limit`;
  return journalRow.all(db, from, { turn, seq, limit });
}

export function insertJournal(db: Connection, turn: number, firstSeq: number, entries: string): void {
  db.statement('INSERT INTO turn_journal (turn, first_seq, entries) VALUES (:turn, :firstSeq, :entries)').run({ turn, firstSeq, entries });
}

export interface CommitTurnInput {
  readonly turn: number;
  readonly appId: string;
  readonly channel: Channel;
  readonly conversationId: string;
  readonly messageId: string;
  readonly fence: Fence;
  readonly state: TurnState;
  readonly attempt: number;
  readonly snapshot: string;
  readonly attemptSeq: number;
  readonly nextSeq: number;
  readonly nowMs: number;
  readonly runBy: string;
  readonly cutOff?: boolean;
  readonly journal: { readonly firstSeq: number; readonly entries: string } | null;
  /** A new attempt: the failed one's blocks, and its calls without an answer, are deleted. */
  readonly replacesAttempt: boolean;
  readonly blocks: readonly NewBlock[];
  readonly invocations: readonly NewInvocation[];
  readonly ended: boolean;
  readonly charge: Charge | null;
  readonly trace?: NewTrace | null;
}

export const transactions = {
  /** One step of a running turn: state, blocks, calls and charge together. False when the fence refused. */
  commitTurn(db: Connection, input: CommitTurnInput): boolean {
    const { conversationId, turn, nowMs, fence, replacesAttempt, state, attempt, snapshot, attemptSeq, nextSeq } = input;
    if (!(replacesAttempt ? enterPastFence(db, conversationId, fence, nowMs) : passFence(db, conversationId, fence))) return false;
    if (replacesAttempt) {
      deleteBlocks(db, input.messageId);
      // Readers of the failed attempt are told its end from here.
      const insert = `INSERT INTO turn_journal (turn, first_seq, entries)
        SELECT id, ending_seq, ending FROM turns WHERE id = :turn AND ending_seq IS NOT NULL`;
      db.statement(insert).run({ turn });
      // Reads that the service ran itself are deleted with the answer that they were made for.
      const remove = `DELETE FROM invocations WHERE turn = :turn AND (settled_at_ms IS NULL OR (risk = 'read' AND executor = 'server'))`;
      db.statement(remove).run({ turn });
    }
    insertBlocks(db, conversationId, input.messageId, input.blocks);
    insertInvocations(db, { appId: input.appId, conversationId, turn, messageId: input.messageId, nowMs }, input.invocations);
    const { journal, ended } = input;
    if (journal !== null && !ended) insertJournal(db, turn, journal.firstSeq, journal.entries);
    const update = `UPDATE turns SET state = :state, attempt = :attempt, snapshot = :snapshot, attempt_seq = :attemptSeq, next_seq = :nextSeq,
        run_by = :runBy, cut_off = cut_off + :cutOff, ended_at_ms = :endedAtMs, ending_seq = :endingSeq, ending = coalesce(:ending, ending)
      WHERE id = :turn`;
    db.statement(update).run({
      ...{ turn, state, attempt, snapshot, attemptSeq, nextSeq },
      runBy: ended ? '' : input.runBy,
      cutOff: input.cutOff === true ? 1 : 0,
      endedAtMs: ended ? nowMs : null,
      endingSeq: ended ? (journal?.firstSeq ?? null) : null,
      ending: ended ? (journal?.entries ?? null) : null,
    });
    const { appId, channel, charge, trace } = input;
    if (trace != null) insertTurnTrace(db, { turn, invocation: '', node: input.runBy, nowMs }, trace);
    if (charge !== null) recordCharge(db, { turn, attempt, appId, channel, nowMs }, charge);
    return true;
  },

  /** Settles, behind the fence, the writes that a crash interrupted. False when the fence refused. */
  loseExecutions(
    db: Connection,
    input: { conversationId: string; fence: Fence; settlements: readonly Settlement[]; nowMs: number },
  ): boolean {
    if (!passFence(db, input.conversationId, input.fence)) return false;
    settling.settleInvocations(db, input);
    return true;
  },
};
