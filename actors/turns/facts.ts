/** What the turns of a process are given, and what each attempt at one of them works with. */
import type { Logger } from 'pino';
import type { Model } from '../../assistant/models/model.ts';
import type { PriceTable } from '../../assistant/prices.ts';
import { createToolsets, type Toolset, type ToolsetInput } from '../../assistant/toolset.ts';
import { Refusal } from '../../protocol/errors.ts';
import { type IdPrefix, mintId } from '../../protocol/ids.ts';
import type { PendingInvocation } from '../../protocol/runtime/stream-events.ts';
import type { Persona } from '../../protocol/setup/persona.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { readManifest } from '../../storage/apps/manifests.ts';
import type { StoredMessage } from '../../storage/conversations/conversations.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';
import type { OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Measures } from '../../watch/measures.ts';
import type { Billing } from '../billing/billing.ts';
import type { ActionRunner } from '../calls/action-runner.ts';
import { receiptOf } from '../calls/receipt.ts';
import { knowledgeLanguages } from '../knowledge/languages.ts';
import type { QueryEmbeddings } from '../knowledge/query-embeddings.ts';
import type { NodeStore } from '../node.ts';
import type { Redaction } from '../people/redaction.ts';
import type { AnyCommand } from './command.ts';
import { CommitBudget } from './commit-budget.ts';
import { DaysLeft } from './days-left.ts';
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
  /** The platform's ceiling; `charged` is called with every charge, `ended` with every attempt that ended. */
  readonly billing: Pick<Billing, 'platform' | 'charged' | 'ended'>;
  /** Told of each attempt that ended, and of searches; absent where nothing is measured. */
  readonly measures?: Pick<Measures, 'turnEnded' | 'searched'>;
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
  readonly daysLeft: DaysLeft;
}

export function turnServices(options: TurnOptions): TurnServices {
  const commitBudget = new CommitBudget();
  const longAnswers = new LongAnswers({ isBusy: () => commitBudget.waiting > 0 });
  return { ...options, toolset: createToolsets(), commitBudget, longAnswers, earlyCalls: new EarlyCalls(), daysLeft: new DaysLeft() };
}

export type OpenedTurn = Pick<Extract<OpenTurnOutput, { outcome: 'opened' }>, 'turn' | 'dayLeft'>;

/** Work of earlier turns that an attempt takes up. */
export interface LeftWork {
  /** The person's message that is answered, where that is not the newest one. */
  readonly question: string | null;
  /** Confirmed writes that are run before the model is asked; their rows say `executing`. */
  readonly executions: readonly InvocationRow[];
  readonly lost: readonly InvocationRow[];
  /** Calls of earlier turns that still wait for the client or a person. */
  readonly left: readonly PendingInvocation[];
  /** The turn brings how a write ended that a person confirmed, or runs one: its first round tells the person, whatever was spent. */
  readonly tellsWrite: boolean;
}

/** A conversation and what every turn of it works with. */
export interface TurnPlace {
  readonly services: TurnServices;
  readonly conversationId: string;
  readonly db: Connection;
  readonly redaction: Redaction;
  /** False: the conversation had no action call when the turn began. */
  readonly mayHaveCalls: boolean;
}

export interface TurnTools {
  readonly toolset: Toolset;
  readonly hasKnowledge: boolean;
}

/** What a draft finds out about its turn. */
interface Drafted {
  /** The conversation has only the rows of this turn. */
  readonly isNew: boolean;
  readonly messageId: string;
  readonly work: LeftWork;
  /** The person's message while its row is not committed: the model may be asked meanwhile. Null: the rows have all that is asked. */
  unstored: StoredMessage | null;
  /** What the commit of its opening made; null until then. */
  opened: OpenedTurn | null;
}

/** What an attempt at a turn works with. It is fixed when the attempt begins, but for what the commit of the opening adds. */
export interface TurnFacts extends TurnPlace, TurnWords, TurnTools, Drafted {
  /** The draft's for the sandbox, what was published for live keys. What the trusted instructions are made of, and which model is asked. */
  readonly persona: Persona;
  /** The name of the model that is asked first. */
  readonly modelName: string;
  /** How much it may read from the model. */
  readonly share: AnswerShare;
}

/** Field by field, for one shape: an object put together of others has a shape of its own, which takes a kilobyte for as long as the answer comes. */
export function turnFacts(
  { services, conversationId, db, redaction, mayHaveCalls }: TurnPlace,
  { command, attachments, traits }: TurnWords,
  { toolset, hasKnowledge }: TurnTools,
  { isNew, messageId, work, unstored, opened }: Drafted,
): TurnFacts {
  const { app, channel } = command.caller;
  const share = services.longAnswers.join(app.id);
  const persona = readPersona(db, app, channel);
  const { model } = services;
  const modelName = (persona.model && model.firstOf?.(persona.model)) ?? model.name;
  return {
    services,
    conversationId,
    db,
    redaction,
    mayHaveCalls,
    command,
    toolset,
    hasKnowledge,
    isNew,
    messageId,
    attachments,
    traits,
    work,
    unstored,
    opened,
    persona,
    modelName,
    share,
  };
}

export function noteOpened(turn: TurnFacts, opened: OpenedTurn): void {
  turn.opened = opened;
  turn.unstored = null;
}

/** The number of the turn's row. @throws Error before its opening is committed */
export function numberOf({ opened }: TurnFacts): number {
  if (opened === null) throw new Error('a turn was used before its opening was committed');
  return opened.turn;
}

/** Made for each line, because most turns log nothing. */
export function logOf({ command, conversationId, services }: TurnFacts): Logger {
  return services.log.child({ request_id: command.requestId, conversation_id: conversationId });
}

/** What the model can call in a turn of this command. @throws Refusal `manifest_unknown` */
export function turnTools({ services, db }: TurnPlace, { body, caller: { app } }: AnyCommand): TurnTools {
  const hasKnowledge = app.newestSource > 0;
  const { components, action_kinds: actionKinds, manifest_hash: hash = null } = body.client;
  const manifest = hash === null ? services.manifestWithout?.(app.id) : registered(db, app.id, hash);
  const languages = knowledgeLanguages(db, app);
  const http = enabledActions(db, app);
  return { hasKnowledge, toolset: services.toolset({ components, actionKinds, manifest, http, hasKnowledge, languages }) };
}

function registered(db: Connection, appId: string, hash: string): ToolsetInput['manifest'] {
  const document = readManifest(db, appId, hash);
  if (document !== undefined) return { hash, document };
  throw new Refusal('manifest_unknown', 'client.manifest_hash is not known here. Register the manifest again with POST /v1/apps/manifest.');
}

export function mint({ nowMs }: Pick<TurnServices, 'nowMs'>, prefix: IdPrefix): string {
  return mintId(prefix, nowMs());
}

/** The receipt that goes out with a confirmed call (CONFIRM-19); undefined for a call without a confirmation. */
export function turnReceipt({ services, redaction }: TurnPlace, { caller, person }: AnyCommand, row: InvocationRow) {
  if (row.confirmedAtMs === null) return undefined;
  const asked = { params: redaction.restore(row.params), externalUserId: person?.externalUserId ?? null };
  return receiptOf(services, caller.organisationId, row, asked);
}
