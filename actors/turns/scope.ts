/** What an attempt at a turn works with. It is fixed when the attempt begins, and every part of the attempt gets it. */
import type { Logger } from 'pino';
import type { Model } from '../../assistant/models/model.ts';
import type { PriceTable } from '../../assistant/prices.ts';
import { createToolsets, type Toolset, type ToolsetInput } from '../../assistant/toolset.ts';
import { Refusal } from '../../protocol/errors.ts';
import { type IdPrefix, mintId } from '../../protocol/ids.ts';
import type { PendingInvocation, TurnUsage } from '../../protocol/runtime/stream-events.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { readManifest } from '../../storage/apps/manifests.ts';
import type { StoredMessage } from '../../storage/conversations/conversations.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import type { CommitTurnInput } from '../../storage/conversations/turns.ts';
import { hasIndexedKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Billing } from '../billing/billing.ts';
import type { ActionRunner } from '../calls/action-runner.ts';
import { receiptOf } from '../calls/receipt.ts';
import type { QueryEmbeddings } from '../knowledge/query-embeddings.ts';
import type { NodeStore } from '../node.ts';
import type { Redaction } from '../people/redaction.ts';
import type { TurnCommand } from './command.ts';
import { CommitBudget } from './commit-budget.ts';
import { EarlyCalls } from './early-calls.ts';
import type { Ownership } from './epoch.ts';
import { type AnswerShare, LongAnswers } from './long-answers.ts';
import type { TurnWords } from './words.ts';

/** What the turns of a process are given. */
export interface TurnOptions {
  readonly storage: Storage;
  readonly model: Model;
  readonly prices: PriceTable;
  readonly log: Logger;
  /** Present when passages are looked up by meaning, too. */
  readonly meanings?: QueryEmbeddings | undefined;
  /** Calls an HTTP action of an app. */
  readonly runAction: ActionRunner['run'];
  readonly ownership: Ownership;
  readonly node: NodeStore;
  /** A turn whose process was lost so often is not tried again: it may be the cause, and would end the next process. */
  readonly turnLossesMax: number;
  /** The manifest of an app whose clients name none; without one they can do nothing. */
  readonly manifestWithout?: (appId: string) => ToolsetInput['manifest'];
  /** The platform's ceiling; `charged` is called with every charge. */
  readonly billing: Pick<Billing, 'platform' | 'charged'>;
  nowMs(): number;
  /** A row of this organisation runs out at `atMs`. */
  noteDeadline(organisationId: string, atMs: number): void;
}

/** The options, and what all turns of a process share. */
export interface TurnServices extends TurnOptions {
  readonly toolset: (input: ToolsetInput) => Toolset;
  /** How much of answers may be in commits under way. */
  readonly commitBudget: CommitBudget;
  readonly longAnswers: LongAnswers;
  readonly earlyCalls: EarlyCalls;
}

export function turnServices(options: TurnOptions): TurnServices {
  const commitBudget = new CommitBudget();
  const longAnswers = new LongAnswers({ isBusy: () => commitBudget.waiting > 0 });
  return { ...options, toolset: createToolsets(), commitBudget, longAnswers, earlyCalls: new EarlyCalls() };
}

/** Work of earlier turns that an attempt takes up. */
export interface LeftWork {
  /** The person's message that is answered, where that is not the newest one. */
  readonly question: string | null;
  /** Confirmed writes that are run before the model is asked; their rows say `executing`. */
  readonly executions: readonly InvocationRow[];
  /** Writes whose end is unknown. */
  readonly lost: readonly InvocationRow[];
  /** Calls of earlier turns that still wait for the client or a person. */
  readonly left: readonly PendingInvocation[];
  /** The turn brings how a write ended that a person confirmed, or runs one: its first round tells the person, whatever was spent. */
  readonly tellsWrite: boolean;
}

/** What a step of a turn writes. `Held` adds whose turn it is, and the fence. */
export type TurnCommit = Omit<CommitTurnInput, 'turn' | 'messageId' | 'appId' | 'channel' | 'conversationId' | 'fence' | 'nowMs' | 'runBy'>;

/** Whose turn it is, and in which conversation. */
export interface TurnPlace {
  readonly services: TurnServices;
  readonly command: TurnCommand;
  readonly conversationId: string;
  readonly redaction: Redaction;
}

/** What differs between attempts at the same turn. */
export interface Attempt {
  /** The conversation has only the rows of this turn. */
  readonly isNew: boolean;
  /** The id of the answer's message. */
  readonly messageId: string;
  readonly words: TurnWords;
  readonly work: LeftWork;
  /** The person's message while its row is not committed: the model may be asked meanwhile. Null: the rows have all that is asked. */
  readonly unstored: StoredMessage | null;
  /** What its person and app may still send when the turn ends. */
  usage(): TurnUsage | undefined;
}

export interface TurnScope extends TurnPlace, Attempt {
  /** False when the fence refused: the conversation has another owner. */
  readonly commit: (step: TurnCommit) => Promise<boolean>;
  /** The rows of its organisation. */
  readonly db: Connection;
  readonly log: Logger;
  readonly toolset: Toolset;
  readonly hasKnowledge: boolean;
  /** How much it may read from the model. */
  readonly share: AnswerShare;
}

/** The manifest that the command names, or the one of an app whose clients name none. @throws Refusal `manifest_unknown`. */
export function manifestOf(
  { storage, manifestWithout }: TurnServices,
  { app, body, organisationId }: TurnCommand,
): ToolsetInput['manifest'] {
  const hash = body.client.manifest_hash ?? null;
  if (hash === null) return manifestWithout?.(app.id);
  const document = readManifest(storage.organisation(organisationId), app.id, hash);
  if (document !== undefined) return { hash, document };
  throw new Refusal('manifest_unknown', 'client.manifest_hash is not known here. Register the manifest again with POST /v1/apps/manifest.');
}

/** An object put together of others has a shape of its own, which takes a kilobyte for as long as the answer comes. */
class AttemptScope implements TurnScope {
  readonly services: TurnServices;
  readonly command: TurnCommand;
  readonly conversationId: string;
  readonly redaction: Redaction;
  readonly isNew: boolean;
  readonly messageId: string;
  readonly words: TurnWords;
  readonly work: LeftWork;
  readonly unstored: StoredMessage | null;
  readonly usage: Attempt['usage'];
  readonly commit: TurnScope['commit'];
  readonly db: Connection;
  readonly toolset: Toolset;
  readonly hasKnowledge: boolean;
  readonly share: AnswerShare;
  #log: Logger | null = null;

  constructor({ services, command, conversationId, redaction }: TurnPlace, attempt: Attempt, commit: TurnScope['commit']) {
    const { app, body, organisationId } = command;
    this.services = services;
    this.command = command;
    this.conversationId = conversationId;
    this.redaction = redaction;
    this.isNew = attempt.isNew;
    this.messageId = attempt.messageId;
    this.words = attempt.words;
    this.work = attempt.work;
    this.unstored = attempt.unstored;
    this.usage = attempt.usage;
    this.commit = commit;
    this.db = services.storage.organisation(organisationId);
    this.hasKnowledge = hasIndexedKnowledge(this.db, app.id);
    this.toolset = services.toolset({
      components: body.client.components,
      actionKinds: body.client.action_kinds,
      manifest: manifestOf(services, command),
      http: enabledActions(this.db, app),
      hasKnowledge: this.hasKnowledge,
    });
    this.share = services.longAnswers.join(app.id);
  }

  /** Most turns log nothing, and a logger of one's own is a kilobyte, too. */
  get log(): Logger {
    const { command, conversationId, services } = this;
    this.#log ??= services.log.child({ request_id: command.requestId, conversation_id: conversationId });
    return this.#log;
  }
}

/** @throws Refusal `manifest_unknown`. */
export function turnScope(place: TurnPlace, attempt: Attempt, commit: TurnScope['commit']): TurnScope {
  return new AttemptScope(place, attempt, commit);
}

export function mint({ nowMs }: Pick<TurnServices, 'nowMs'>, prefix: IdPrefix): string {
  return mintId(prefix, nowMs());
}

/** The receipt that goes out with a confirmed call (CONFIRM-19); undefined for a call without a confirmation. */
export function turnReceipt({ services, command, redaction }: TurnPlace, row: InvocationRow) {
  if (row.confirmedAtMs === null) return undefined;
  const { organisationId, person } = command;
  const asked = { params: redaction.restore(row.params), externalUserId: person?.externalUserId ?? null };
  return receiptOf(services, organisationId, row, asked);
}
