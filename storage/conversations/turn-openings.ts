/** The transaction that opens a turn (CHAT-9), once per (app, turn_id). */
import type { TurnState } from '../../protocol/runtime/states.ts';
import { noteManifestUse } from '../apps/manifests.ts';
import { type Admission, type Cap, countTurn, passCaps } from '../billing/usage-ledger.ts';
import type { Channel } from '../organisations/organisations.ts';
import { columns, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { Withdrawal } from '../sqlite/group.ts';
import { insertTurnTrace, type NewTrace } from '../traces/traces.ts';
import { type UploadUse, useUploads } from '../uploads/uploads.ts';
import { insertBlocks, type NewBlock, type PickChange, setPicks } from './blocks.ts';
import { enterPastFence, insertMessage } from './conversations.ts';
import { changeInvocations, type InvocationChange } from './invocations.ts';
import { insertPlaceholders, type PlaceholderRow } from './placeholders.ts';
import { ENDING_ROOM, insertJournal, readTurn, type TurnKind } from './turns.ts';

export interface OpenTurnInput {
  readonly appId: string;
  readonly channel: Channel;
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly fingerprint: string;
  readonly deviceId: string;
  /** The registered manifest of the build that sent it; null or absent: it named none. */
  readonly manifestHash?: string | null;
  readonly requestId: string;
  readonly request: string;
  readonly model: string;
  /** The process that will run it. */
  readonly runBy: string;
  readonly nowMs: number;
  /** `expectedEpoch` null: the conversation is new. */
  readonly conversation: { readonly id: string; readonly expectedEpoch: number | null; readonly epoch: number; readonly owner: string };
  readonly person: { readonly newId: string; readonly externalUserId: string; readonly verified: boolean } | null;
  readonly userMessage: {
    readonly id: string;
    readonly blocks: readonly NewBlock[];
    readonly uploads: readonly UploadUse[];
  } | null;
  /** The placeholder rows of a new conversation. */
  readonly placeholders: readonly PlaceholderRow[];
  readonly assistantMessageId: string;
  readonly state: TurnState;
  readonly snapshot: string;
  readonly nextSeq: number;
  /** What the journal keeps of what the opening says, from seq 0 on; null: that the turn starts, which its row tells. */
  readonly journal: string | null;
  readonly ended: boolean;
  /** Null for continuations: they are exempt (LIMIT-12). */
  readonly admission: Admission | null;
  readonly picks: readonly PickChange[];
  readonly invocationChanges: readonly InvocationChange[];
  /** Turns whose wait this continuation ends. */
  readonly resumed: readonly TurnMove[];
  /** The first step; null or absent: it is kept by the next commit, or can be told from the turn's row. */
  readonly trace?: NewTrace | null;
}

/** A step of a turn's machine, made only while the row is still in the state `from`. */
export interface TurnMove {
  readonly turn: number;
  readonly from: TurnState;
  readonly to: TurnState;
  readonly trace: NewTrace | null;
}

export type OpenTurnOutput =
  /** `dayLeft`: turns that are left today after this one; null when it is not counted. */
  | { readonly outcome: 'opened'; readonly turn: number; readonly dayLeft: number | null }
  /** The `turn_id` was used before: nothing was written, the caller attaches to that turn. */
  | { readonly outcome: 'exists' }
  /** Another node owns the conversation, or a call or a turn changed meanwhile: read again and retry. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'refused'; readonly cap: Cap };

/** Takes the opening back: what it is based on has changed. */
function stale(): Withdrawal<OpenTurnOutput> {
  return new Withdrawal<OpenTurnOutput>({ outcome: 'stale' });
}

const person = columns({ id: text });

function personId(db: Connection, input: OpenTurnInput): string | null {
  if (input.person === null) return null;
  const { newId, externalUserId, verified } = input.person;
  const [row] = person.returning(
    db,
    `INSERT INTO end_users (id, app_id, channel, external_user_id, verified, created_at_ms, updated_at_ms)
     VALUES (:newId, :appId, :channel, :externalUserId, :verified, :nowMs, :nowMs)
     ON CONFLICT (app_id, channel, external_user_id) DO UPDATE SET verified = max(verified, excluded.verified), updated_at_ms = :nowMs`,
    { newId, externalUserId, verified: verified ? 1 : 0, appId: input.appId, channel: input.channel, nowMs: input.nowMs },
  );
  return row?.id ?? newId;
}

function enterConversation(db: Connection, input: OpenTurnInput): void {
  const { id, expectedEpoch, epoch, owner } = input.conversation;
  if (expectedEpoch !== null) {
    if (!enterPastFence(db, id, { expectedEpoch, epoch, owner }, input.nowMs)) throw stale();
    // The person's record exists already, because the conversation is theirs. This remembers the turn's signature.
    if (input.person?.verified === true) personId(db, input);
    return;
  }
  db.statement(
    `INSERT INTO conversations (id, app_id, channel, device_id, end_user_id, epoch, owner, created_at_ms, updated_at_ms)
     VALUES (:id, :appId, :channel, :deviceId, :endUserId, :epoch, :owner, :nowMs, :nowMs)`,
  ).run({
    id,
    epoch,
    owner,
    appId: input.appId,
    channel: input.channel,
    deviceId: input.deviceId,
    endUserId: personId(db, input),
    nowMs: input.nowMs,
  });
}

function insertTurn(db: Connection, input: OpenTurnInput): number {
  const { lastInsertRowid } = db
    .statement(
      `INSERT INTO turns (app_id, turn_id, conversation_id, kind, fingerprint, device_id, request, request_id, state,
         attempt, snapshot, model, attempt_seq, next_seq, opened_at_ms, ended_at_ms, ending, run_by)
       VALUES (:appId, :turnId, :conversationId, :kind, :fingerprint, :deviceId, :request, :requestId, :state,
         1, :snapshot, :model, 0, :nextSeq, :nowMs, :endedAtMs, :ending, :runBy)`,
    )
    .run({
      appId: input.appId,
      runBy: input.runBy,
      turnId: input.turnId,
      conversationId: input.conversation.id,
      kind: input.kind,
      fingerprint: input.fingerprint,
      deviceId: input.deviceId,
      request: input.request,
      requestId: input.requestId,
      state: input.state,
      snapshot: input.snapshot,
      model: input.model,
      nextSeq: input.nextSeq,
      nowMs: input.nowMs,
      endedAtMs: input.ended ? input.nowMs : null,
      ending: ENDING_ROOM,
    });
  return Number(lastInsertRowid);
}

/** Moves earlier turns whose wait is over. Their steps are kept, and the first one of this turn. */
function makeMoves(db: Connection, turn: number, { resumed, trace, runBy: node, nowMs }: OpenTurnInput): void {
  const of = { invocation: '', node, nowMs };
  const resume = db.statement('UPDATE turns SET state = :to WHERE id = :turn AND state = :from');
  for (const { turn: earlier, from, to, trace: step } of resumed) {
    if (resume.run({ turn: earlier, from, to }).changes === 0) throw stale();
    if (step !== null) insertTurnTrace(db, { ...of, turn: earlier }, step);
  }
  if (trace != null) insertTurnTrace(db, { ...of, turn }, trace);
}

export const transactions = {
  /** Stores the message, opens the turn and counts it, all or nothing; once per (app, turn_id). */
  openTurn(db: Connection, input: OpenTurnInput): OpenTurnOutput {
    const { appId, turnId, channel, nowMs } = input;
    if (readTurn(db, appId, turnId) !== undefined) return { outcome: 'exists' };
    const isNewConversation = input.conversation.expectedEpoch === null;
    const passed = input.admission === null ? null : passCaps(db, { appId, channel, isNewConversation, nowMs }, input.admission);
    if (passed?.cap != null) return { outcome: 'refused', cap: passed.cap };
    enterConversation(db, input);
    const conversationId = input.conversation.id;
    if (input.placeholders.length > 0) insertPlaceholders(db, conversationId, input.placeholders);
    const turn = insertTurn(db, input);
    if (input.userMessage !== null) {
      insertMessage(db, { id: input.userMessage.id, conversationId, turn, role: 'user', createdAtMs: nowMs });
      insertBlocks(db, conversationId, input.userMessage.id, input.userMessage.blocks);
      const { id: messageId, uploads } = input.userMessage;
      if (uploads.length > 0 && !useUploads(db, { messageId, uploads })) throw stale();
    }
    insertMessage(db, { id: input.assistantMessageId, conversationId, turn, role: 'assistant', createdAtMs: nowMs });
    if (input.journal !== null) insertJournal(db, turn, 0, input.journal);
    const changes = input.invocationChanges.map((change) => (change.to === 'executing' ? { ...change, executedBy: turn } : change));
    if (!setPicks(db, input.picks) || changeInvocations(db, changes, nowMs).length > 0) {
      throw stale();
    }
    makeMoves(db, turn, input);
    if (input.manifestHash != null) noteManifestUse(db, appId, input.manifestHash, nowMs, input.person?.verified === true);
    if (input.admission !== null) countTurn(db, { appId, channel, isNewConversation, nowMs }, input.admission);
    return { outcome: 'opened', turn, dayLeft: passed?.dayLeft ?? null };
  },
};
