/** Makes what a turn's run needs: its tools, its words, whom it may call, and the ways in which it writes. */

import type { Logger } from 'pino';
import type { Model, Passage } from '../../assistant/models/model.ts';
import type { PriceTable } from '../../assistant/prices.ts';
import { systemPrompt } from '../../assistant/prompt.ts';
import { createToolsets, type ToolsetInput } from '../../assistant/toolset.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import type { PendingInvocation, TurnUsage } from '../../protocol/runtime/stream-events.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { readManifest } from '../../storage/apps/manifests.ts';
import { type InvocationRow, readInvocationById } from '../../storage/conversations/invocations.ts';
import { hasIndexedKnowledge, searchKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Billing } from '../billing/billing.ts';
import { settledCard } from '../calls/card.ts';
import { confirmationReceipt } from '../calls/confirmation-receipt.ts';
import type { ActionOutcome, ActionRunner } from '../calls/http-call.ts';
import { settleExecution } from '../calls/invocation-step.ts';
import type { QuestionMeanings } from '../knowledge/question-meanings.ts';
import type { Concealment } from '../people/concealment.ts';
import { AnswerRoom } from './answer-room.ts';
import type { TurnCommand } from './command.ts';
import type { Ownership } from './epoch.ts';
import { LongAnswers } from './long-answers.ts';
import { overBudget } from './model-budget.ts';
import type { TurnScope } from './scope.ts';
import { readTranscript, readWritten } from './transcript.ts';
import { attachedMessage, type TurnWords } from './words.ts';

/** What turns work with. */
export interface TurnServices {
  readonly storage: Storage;
  readonly model: Model;
  readonly prices: PriceTable;
  readonly log: Logger;
  /** There when passages are looked up by meaning, too. */
  readonly meanings?: QuestionMeanings | undefined;
  /** Calls an HTTP action of an app. */
  readonly runAction: ActionRunner['run'];
  readonly ownership: Ownership;
  readonly turnLossesMax: number;
  /** What a client of this app can do that names no manifest; absent, or answering undefined: nothing. */
  readonly manifestWithout?: (appId: string) => ToolsetInput['manifest'];
  /** The platform's ceiling, and who hears of every charge. */
  readonly billing: Pick<Billing, 'platform' | 'charged'>;
  nowMs(): number;
  /** A row of this organisation runs out at `atMs`. */
  noteDeadline(organisationId: string, atMs: number): void;
}

/** Passages looked up for a message: enough to answer from, few enough not to drown the question. */
const PASSAGES_PER_SEARCH = 6;

/** What sets one run apart from another of the same command. */
export interface RunOf {
  readonly conversationId: string;
  readonly messageId: string;
  readonly words: TurnWords;
  /** The person's message that it is about, where that is not the newest one. */
  readonly question: string | null;
  readonly concealment: Concealment;
  /** The conversation's way to commit a step. */
  readonly commit: TurnScope['commit'];
  /** There are no rows of the conversation yet but this turn's. */
  readonly isNew: boolean;
  readonly executions: readonly InvocationRow[];
  readonly lost: readonly InvocationRow[];
  readonly left: readonly PendingInvocation[];
  readonly tellsWrite: boolean;
  usage(): TurnUsage | undefined;
}

export class TurnScopes {
  readonly #services: TurnServices;
  readonly #toolset = createToolsets();
  readonly #room = new AnswerRoom();
  readonly #longAnswers = new LongAnswers({ isBusy: () => this.#room.waiting > 0 });

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /** The manifest that the command names, or the one of an app whose clients need not. @throws Refusal `manifest_unknown`. */
  manifest({ app, body, organisationId }: TurnCommand): ToolsetInput['manifest'] {
    const hash = body.client.manifest_hash ?? null;
    if (hash === null) return this.#services.manifestWithout?.(app.id);
    const document = readManifest(this.#services.storage.organisation(organisationId), app.id, hash);
    if (document !== undefined) return { hash, document };
    throw new Refusal(
      'manifest_unknown',
      'client.manifest_hash is not known here. Register the manifest again with POST /v1/apps/manifest.',
    );
  }

  make(command: TurnCommand, run: RunOf): TurnScope {
    const { app, body, channel, requestId, organisationId } = command;
    const { storage, model, prices, log, meanings, nowMs, runAction } = this.#services;
    const { conversationId, concealment } = run;
    const db = storage.organisation(organisationId);
    const locale = body.client.locale ?? null;
    const hasKnowledge = hasIndexedKnowledge(db, app.id);
    return {
      app,
      channel,
      isCharged: command.purpose === 'person',
      conversationId,
      messageId: run.messageId,
      requestId,
      sender: { app: app.id, device: command.deviceId },
      locale,
      context: run.words.body.context,
      toolset: this.#toolset({
        components: body.client.components,
        actionKinds: body.client.action_kinds,
        manifest: this.manifest(command),
        http: enabledActions(db, app),
        hasKnowledge,
      }),
      actionKinds: new Set(body.client.action_kinds),
      model,
      room: this.#room,
      share: this.#longAnswers.join(app.id),
      prices,
      log: log.child({ request_id: requestId, conversation_id: conversationId }),
      system: systemPrompt(app.name, readPersona(db, app, channel), locale),
      traits: run.words.traits,
      nowMs,
      mint: (prefix) => mintId(prefix, nowMs()),
      transcript: () => this.#transcript(db, run),
      written: (fromBlock) => readWritten(db, run.messageId, fromBlock),
      search: (text) => {
        const found = hasKnowledge ? searchKnowledge(db, app.id, text, PASSAGES_PER_SEARCH, meanings?.get(text)) : ([] as Passage[]);
        if (found.length > 0) command.onPassages?.(found);
        return found;
      },
      ...(meanings !== undefined && hasKnowledge ? { prepareSearch: (text: string) => meanings.prepare(text) } : {}),
      // What it is used for is data of an endpoint's.
      conceal: (value) => concealment.conceal(value, true),
      restore: (value) => concealment.restore(value),
      concealOwn: (value) => concealment.concealOwn(value),
      userToken: command.userToken,
      runAction,
      executions: run.executions,
      lost: run.lost,
      left: run.left,
      tellsWrite: run.tellsWrite,
      overBudget: (spentMicroUsd) => overBudget(command, db, nowMs(), spentMicroUsd),
      receipt: (row) => this.receipt(command, concealment, row),
      isExecuting: (row) => readInvocationById(db, row.id)?.state === 'executing',
      settle: (row, outcome) => this.#settle(organisationId, row, outcome),
      onAction: (name) => command.onAction?.(name),
      onNothing: (isNothing) => command.onNothing?.(isNothing),
      usage: () => run.usage(),
      commit: run.commit,
    };
  }

  #transcript(db: Connection, { conversationId, words, question, isNew }: RunOf) {
    const attached = attachedMessage(words.attachments);
    const { message } = words.body;
    // What was said in a new conversation is what the command says; reading it back would cost more than all the rest.
    if (isNew && message !== undefined) return [...attached, { role: 'user' as const, content: message.text }];
    return readTranscript(db, conversationId, this.#services.nowMs(), attached, question);
  }

  /** The receipt that goes out with a confirmed call (CONFIRM-19); undefined for one that nobody confirmed. */
  receipt({ person, organisationId }: TurnCommand, concealment: Concealment, row: InvocationRow): string | undefined {
    if (row.confirmedAtMs === null) return undefined;
    const params = concealment.restore(row.params);
    return confirmationReceipt(this.#services, organisationId, row, { params, externalUserId: person?.externalUserId ?? null });
  }

  async #settle(organisationId: string, row: InvocationRow, outcome: ActionOutcome): Promise<void> {
    const { storage, nowMs } = this.#services;
    const change = settleExecution(row, outcome);
    if (change === null) return;
    const card = settledCard(storage.organisation(organisationId), change);
    await storage.write(organisationId, 'settleInvocations', { settlements: [{ change, card }], nowMs: nowMs() });
  }
}
