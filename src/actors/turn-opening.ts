/** Prepares what opening a turn writes and what its run needs, from the command and the rows it meets. */
import type { Logger } from 'pino';
import type { Model } from '../assistant/models/model.ts';
import type { PriceTable } from '../assistant/prices.ts';
import { systemPrompt } from '../assistant/prompt.ts';
import { createToolsets } from '../assistant/toolset.ts';
import type { ChatTurnEffect, chatTurn } from '../machines/chat-turn.ts';
import { Refusal } from '../protocol/errors.ts';
import { type IdPrefix, mintId } from '../protocol/ids.ts';
import { toMicroUsd } from '../protocol/money.ts';
import type { TurnState } from '../protocol/runtime/states.ts';
import type { PendingInvocation, StreamEvent } from '../protocol/runtime/stream-events.ts';
import { readPersona } from '../storage/drafts.ts';
import type { InvocationRow } from '../storage/invocations.ts';
import { hasIndexedKnowledge, searchKnowledge } from '../storage/knowledge-search.ts';
import { readManifest } from '../storage/manifests.ts';
import type { Storage } from '../storage/storage.ts';
import type { OpenTurnInput, OpenTurnOutput } from '../storage/turn-openings.ts';
import type { CommitTurnInput } from '../storage/turns.ts';
import type { Cap } from '../storage/usage-ledger.ts';
import type { QuestionMeanings } from './question-meanings.ts';
import type { Stepper } from './step.ts';
import { readTranscript } from './transcript.ts';
import { planTurn, type TurnCommand, type TurnPlan } from './turn-command.ts';
import { journalEvent } from './turn-log.ts';
import { turnMachine } from './turn-machine.ts';
import type { TurnScope } from './turn-scope.ts';

/** Passages looked up for a message: enough to answer from, few enough not to drown the question. */
const PASSAGES_PER_SEARCH = 6;

export interface TurnServices {
  readonly storage: Storage;
  readonly model: Model;
  readonly prices: PriceTable;
  readonly log: Logger;
  /** There when passages are looked up by meaning, too. */
  readonly meanings?: QuestionMeanings | undefined;
  nowMs(): number;
  /** A row of this organisation runs out at `atMs`. */
  noteDeadline(organisationId: string, atMs: number): void;
}

export interface Fence {
  readonly expectedEpoch: number | null;
  readonly epoch: number;
}

export interface PreparedTurn {
  readonly input: OpenTurnInput;
  scope(commit: TurnScope['commit']): TurnScope;
  readonly start: {
    readonly machine: Stepper<typeof chatTurn>;
    readonly effects: readonly ChatTurnEffect[];
    /** What is said once the opening is committed, from seq 0 on. */
    readonly events: readonly StreamEvent[];
  };
}

const CAP_REFUSALS: Readonly<Record<Cap, (command: TurnCommand) => Refusal>> = {
  messages_per_day: ({ app }) =>
    new Refusal('rate_limited', `Today's ${app.settings.messagesPerDay} messages are used up. The count starts again at midnight UTC.`),
  sandbox_conversations: () =>
    new Refusal(
      'quota_exceeded',
      'The sandbox conversations of this organisation are used up for this month. Test keys start new ones on the 1st (UTC); live keys are not affected.',
    ),
  daily_model_budget: () => new Refusal('quota_exceeded', 'The assistant has reached its budget for today. It is back tomorrow (UTC).'),
};

export class TurnOpening {
  readonly #services: TurnServices;
  readonly #toolset = createToolsets();

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /**
   * What `command` would write, and its run. Reads only.
   * @throws Refusal `manifest_unknown`, or `invalid_request` when the command does not fit the conversation's rows.
   */
  prepare(command: TurnCommand, conversationId: string, fence: Fence): PreparedTurn {
    const nowMs = this.#services.nowMs();
    const db = this.#services.storage.organisation(command.organisationId);
    const messageId = this.#mint('msg');
    const isNew = fence.expectedEpoch === null;
    const scope = (commit: TurnScope['commit']) => this.scopeOf(command, conversationId, messageId, commit, isNew);
    // Refuses an unknown manifest before anything is written.
    this.#manifest(command);
    const plan = planTurn(db, conversationId, command, nowMs);
    const machine = turnMachine();
    const { effects } = machine.send({ type: 'turn.open', waiting: plan.waiting });
    const events = this.openingEvents(effects, command, conversationId, messageId, plan.left);
    const input: OpenTurnInput = {
      appId: command.app.id,
      channel: command.channel,
      turnId: command.turnId,
      kind: plan.kind,
      fingerprint: command.fingerprint,
      deviceId: command.deviceId,
      requestId: command.requestId,
      request: JSON.stringify({ client: command.body.client }),
      model: this.#services.model.name,
      nowMs,
      conversation: { id: conversationId, ...fence },
      person: command.person === null ? null : { newId: this.#mint('usr'), ...command.person },
      userMessage: this.#userMessage(plan),
      assistantMessageId: messageId,
      state: machine.state as TurnState,
      snapshot: JSON.stringify(machine.snapshot.context),
      nextSeq: events.length,
      journal: JSON.stringify(events.map((event, seq) => journalEvent(seq, event))),
      ended: effects.some((effect) => effect.type === 'endTurn'),
      admission: this.#admission(command, plan),
      picks: plan.picks,
      invocationChanges: plan.changes,
      resumedTurns: plan.resumedTurns,
    };
    return { input, scope, start: { machine, effects, events } };
  }

  #userMessage(plan: TurnPlan): OpenTurnInput['userMessage'] {
    if (plan.said === null) return null;
    return { id: this.#mint('msg'), blocks: plan.said.map((block) => ({ ...block, id: this.#mint('blk') })) };
  }

  /** Continuations go on with work that was counted already (service.md "Limits" rule 3); the service's own questions never are. */
  #admission(command: TurnCommand, plan: TurnPlan): OpenTurnInput['admission'] {
    if (plan.kind === 'continuation' || command.purpose === 'smoke') return null;
    const { messagesPerDay, dailyModelBudgetUsd } = command.app.settings;
    return {
      messagesPerDay,
      dailyModelBudgetMicroUsd: dailyModelBudgetUsd === null ? null : toMicroUsd(dailyModelBudgetUsd),
    };
  }

  #mint(prefix: IdPrefix): string {
    return mintId(prefix, this.#services.nowMs());
  }

  #manifest(command: TurnCommand) {
    const hash = command.body.client.manifest_hash ?? null;
    if (hash === null) return undefined;
    const document = readManifest(this.#services.storage.organisation(command.organisationId), command.app.id, hash);
    if (document === undefined) {
      throw new Refusal(
        'manifest_unknown',
        'client.manifest_hash is not known here. Register the manifest again with POST /v1/apps/manifest.',
      );
    }
    return { hash, document };
  }

  /** What a run of this command needs; `commit` is the conversation's. */
  scopeOf(command: TurnCommand, conversationId: string, messageId: string, commit: TurnScope['commit'], isNew = false): TurnScope {
    const { app, body, channel, requestId } = command;
    const { storage, model, prices, log, meanings } = this.#services;
    const db = storage.organisation(command.organisationId);
    const locale = body.client.locale ?? null;
    const hasKnowledge = hasIndexedKnowledge(db, app.id);
    return {
      app,
      channel,
      isCharged: command.purpose === 'person',
      conversationId,
      messageId,
      requestId,
      locale,
      context: body.context,
      toolset: this.#toolset({
        components: body.client.components,
        manifest: this.#manifest(command),
        hasKnowledge,
      }),
      actionKinds: new Set(body.client.action_kinds),
      model,
      prices,
      log: log.child({ request_id: requestId, conversation_id: conversationId }),
      system: systemPrompt(app.name, readPersona(db, app, channel), locale),
      traits: null,
      nowMs: this.#services.nowMs,
      mint: (prefix) => this.#mint(prefix),
      // What was said in a new conversation is what the command says; reading it back would cost more than all the rest.
      transcript: () =>
        isNew && body.message !== undefined
          ? [{ role: 'user', content: body.message.text }]
          : readTranscript(db, conversationId, this.#services.nowMs()),
      search: (text) => {
        const found = hasKnowledge ? searchKnowledge(db, app.id, text, PASSAGES_PER_SEARCH, meanings?.get(text)) : [];
        if (found.length > 0) command.onPassages?.(found);
        return found;
      },
      ...(meanings !== undefined && hasKnowledge ? { prepareSearch: (text: string) => meanings.prepare(text) } : {}),
      commit,
    };
  }

  /** What a turn's first step says; `left`: the calls it ends on when it only passed results on. */
  openingEvents(
    effects: readonly ChatTurnEffect[],
    command: TurnCommand,
    conversationId: string,
    messageId: string,
    left: readonly InvocationRow[] = [],
  ): StreamEvent[] {
    return effects.flatMap((effect): StreamEvent[] => {
      switch (effect.type) {
        case 'sendStart': {
          const { requestId } = command;
          const model = this.#services.model.name;
          return [{ type: 'turn.start', conversation_id: conversationId, message_id: messageId, model, request_id: requestId }];
        }
        case 'endTurn':
          return [{ type: 'turn.end', status: effect.status, pending: left.map(pendingOf), billable: false }];
        default:
          return [];
      }
    });
  }

  write(command: TurnCommand, input: OpenTurnInput): Promise<OpenTurnOutput> {
    return this.#services.storage.write(command.organisationId, 'openTurn', input);
  }

  async commit(organisationId: string, input: Omit<CommitTurnInput, 'nowMs'>): Promise<boolean> {
    const committed = await this.#services.storage.write(organisationId, 'commitTurn', { ...input, nowMs: this.#services.nowMs() });
    for (const { expiresAtMs } of input.invocations) {
      if (committed && expiresAtMs !== null) this.#services.noteDeadline(organisationId, expiresAtMs);
    }
    return committed;
  }

  refusal(command: TurnCommand, cap: Cap): Refusal {
    return CAP_REFUSALS[cap](command);
  }
}

function pendingOf(row: InvocationRow): PendingInvocation {
  return {
    invocation_id: row.id,
    name: row.name,
    params: row.params,
    risk: row.risk,
    timeout_ms: row.timeoutMs,
    executor: row.executor,
    ...(row.blockId === null ? {} : { block_id: row.blockId }),
  };
}
