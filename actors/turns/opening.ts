/** Prepares what opening a turn writes, from the command and the rows it meets, and knows the writes of a conversation's turns. */
import type { ChatTurnEffect, chatTurn } from '../../machines/chat-turn.ts';
import { type IdPrefix, mintId } from '../../protocol/ids.ts';
import { toMicroUsd } from '../../protocol/money.ts';
import type { TurnState } from '../../protocol/runtime/states.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { turnsLeft } from '../../storage/billing/usage-ledger.ts';
import { type Fence, readConversation } from '../../storage/conversations/conversations.ts';
import { type InvocationRow, readExecutedBy, readExecuting, readUntold } from '../../storage/conversations/invocations.ts';
import type { OpenTurnInput, OpenTurnOutput } from '../../storage/conversations/turn-openings.ts';
import { type CommitTurnInput, readQuestion, type TurnRow } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { settledCard } from '../calls/card.ts';
import { lostChange } from '../calls/invocation-step.ts';
import { pendingOf } from '../calls/pending-call.ts';
import { type Concealment, openConcealment, regionsOfClient } from '../people/concealment.ts';
import type { Stepper } from '../step.ts';
import { refuseCapped, senderOf } from './admission.ts';
import { isContinuation, planTurn, type TurnCommand, type TurnPlan, usageOf } from './command.ts';
import type { OpeningFence, Ownership } from './epoch.ts';
import { journalEvent } from './log.ts';
import { turnMachine } from './machine.ts';
import { requireBudget } from './model-budget.ts';
import { type OpeningSaid, openingEvents } from './opening-events.ts';
import type { Recoverer } from './recovery.ts';
import type { TurnScope } from './scope.ts';
import { TurnScopes, type TurnServices } from './scopes.ts';
import { retriedWords, type TurnWords, turnWords, withQuestion } from './words.ts';

/** A conversation as its actor holds it. */
export interface Thread {
  readonly id: string;
  readonly concealment: Concealment;
}

export interface PreparedTurn {
  readonly input: OpenTurnInput;
  /** The run, once the opening is committed. */
  scope(commit: TurnScope['commit'], dayLeft: number | null): TurnScope;
  readonly start: {
    readonly machine: Stepper<typeof chatTurn>;
    readonly effects: readonly ChatTurnEffect[];
    /** What is said once the opening is committed, from seq 0 on. */
    readonly events: readonly StreamEvent[];
  };
}

export class TurnOpening {
  readonly #services: TurnServices;
  readonly #scopes: TurnScopes;

  constructor(services: TurnServices) {
    this.#services = services;
    this.#scopes = new TurnScopes(services);
  }

  nowMs(): number {
    return this.#services.nowMs();
  }

  get recoverer(): Recoverer {
    return this.#services;
  }

  get ownership(): Ownership {
    return this.#services.ownership;
  }

  /** A conversation with its personal data. `known`: how many placeholders it has, where somebody knows; `command`: who writes. */
  thread(organisationId: string, conversationId: string, isNew: boolean, known: number | undefined, command: TurnCommand | null): Thread {
    const { storage } = this.#services;
    const count = known ?? readConversation(storage.organisation(organisationId), conversationId)?.placeholders ?? 0;
    const options = { storage, organisationId, conversationId, isNew, count, regions: command === null ? [] : this.regionsOf(command) };
    return { id: conversationId, concealment: openConcealment(options) };
  }

  regionsOf({ app, body, channel, organisationId }: TurnCommand): string[] {
    return regionsOfClient(this.#services.storage.organisation(organisationId), app, channel, body.client.locale);
  }

  /**
   * What `command` would write, and its run. Writes nothing but placeholders that the conversation did not have yet.
   * @throws Refusal of a cap, `manifest_unknown`, or `invalid_request` when the command does not fit the conversation's rows.
   */
  async prepare(command: TurnCommand, thread: Thread, fence: OpeningFence): Promise<PreparedTurn> {
    const { storage, model, nowMs } = this.#services;
    const db = storage.organisation(command.organisationId);
    const admission = this.#admission(command);
    const isNew = fence.expectedEpoch === null;
    refuseCapped(command, admission, isNew, db, nowMs());
    // Refuses an unknown manifest before anything is written.
    this.#scopes.manifest(command);
    const words = await turnWords(storage, command, thread.concealment, nowMs());
    const atMs = nowMs();
    const restore = <T>(value: T) => thread.concealment.restore(value);
    const plan = planTurn(db, thread.id, command.app, { sent: command.body, kept: words.body, restore }, atMs);
    const machine = turnMachine();
    const { effects } = machine.send({ type: 'turn.open', serverCalls: plan.executions.length, waiting: plan.waiting });
    if (plan.kind === 'continuation' && !plan.tellsWrite && effects.some(({ type }) => type === 'callModel'))
      requireBudget(command, db, atMs);
    const messageId = this.#mint('msg');
    // Before this turn is one of them.
    const lost = isNew ? [] : readUntold(db, thread.id);
    // A continuation is not counted, so that what is left is known before it is opened.
    const leftNow = plan.kind === 'continuation' ? this.#dayLeft(command, db, atMs) : undefined;
    const usage = usageOf(command, leftNow);
    const events = this.#openingEvents(command, thread, effects, { messageId, left: plan.left, usage }, plan.confirmed);
    const input: OpenTurnInput = {
      appId: command.app.id,
      channel: command.channel,
      turnId: command.turnId,
      kind: plan.kind,
      fingerprint: command.fingerprint,
      deviceId: command.deviceId,
      manifestHash: command.body.client.manifest_hash ?? null,
      requestId: command.requestId,
      request: JSON.stringify({
        client: command.body.client,
        ...(command.person?.verified === true ? { signed: true } : {}),
        ...(plan.tellsWrite ? { tells_write: true } : {}),
        ...(plan.question === null ? {} : { question: plan.question }),
      }),
      model: model.name,
      runBy: this.#services.ownership.process,
      nowMs: atMs,
      conversation: { id: thread.id, ...fence },
      person: command.person === null ? null : { newId: this.#mint('usr'), ...command.person },
      userMessage: this.#userMessage(plan, words),
      placeholders: isNew ? thread.concealment.newRows() : [],
      assistantMessageId: messageId,
      state: machine.state as TurnState,
      snapshot: JSON.stringify(machine.snapshot.context),
      nextSeq: events.length,
      journal: JSON.stringify(events.map((event, seq) => journalEvent(seq, event))),
      ended: effects.some((effect) => effect.type === 'endTurn'),
      admission,
      picks: plan.picks,
      invocationChanges: plan.changes,
      resumed: plan.resumed,
    };
    const scope: PreparedTurn['scope'] = (commit, dayLeft) =>
      this.#scopes.make(command, {
        conversationId: thread.id,
        concealment: thread.concealment,
        messageId,
        words: withQuestion(words, storage, command.organisationId, plan.question),
        question: plan.question,
        commit,
        isNew,
        executions: plan.executions,
        lost,
        left: plan.left.map(pendingOf),
        tellsWrite: plan.tellsWrite,
        usage: () => usageOf(command, leftNow ?? dayLeft ?? undefined),
      });
    return { input, scope, start: { machine, effects, events } };
  }

  /** A new attempt of a turn that failed: its run, and what is said first. @throws Refusal when the day's model budget is spent. */
  async prepareRetry(command: TurnCommand, thread: Thread, row: TurnRow, effects: readonly ChatTurnEffect[], commit: TurnScope['commit']) {
    const { storage, nowMs } = this.#services;
    const tellsWrite = (JSON.parse(row.request) as { tells_write?: boolean }).tells_write === true;
    if (!tellsWrite) requireBudget(command, storage.organisation(command.organisationId), nowMs());
    const question = readQuestion(storage.organisation(command.organisationId), row.turn);
    const words = await retriedWords(storage, command, thread.concealment, question);
    const lost = readExecutedBy(storage.organisation(command.organisationId), row.turn).filter(({ state }) => state === 'unknown');
    const messageId = row.assistantMessageId;
    const scope = this.#scopes.make(command, {
      conversationId: thread.id,
      concealment: thread.concealment,
      messageId,
      words,
      question,
      commit,
      isNew: false,
      executions: [],
      lost,
      left: [],
      tellsWrite,
      usage: () => usageOf(command, this.#dayLeft(command, storage.organisation(command.organisationId), this.#services.nowMs())),
    });
    return { scope, events: this.#openingEvents(command, thread, effects, { messageId, left: [], usage: undefined }) };
  }

  #userMessage(plan: TurnPlan, { attachments }: TurnWords): OpenTurnInput['userMessage'] {
    if (plan.said === null) return null;
    const uploads = attachments.map(({ uploadId, position, name, text }) => ({ id: uploadId, position, name, text }));
    return { id: this.#mint('msg'), blocks: plan.said.map((block) => ({ ...block, id: this.#mint('blk') })), uploads };
  }

  /** Continuations go on with work that was counted already (LIMIT-12); the service's own questions never are. */
  #admission(command: TurnCommand): OpenTurnInput['admission'] {
    if (isContinuation(command.body) || command.purpose === 'smoke') return null;
    const { messagesPerDay, dailyModelBudgetUsd } = command.app.settings;
    return {
      messagesPerDay,
      sender: senderOf(command, this.#services.storage),
      dailyModelBudgetMicroUsd: dailyModelBudgetUsd === null ? null : toMicroUsd(dailyModelBudgetUsd),
    };
  }

  #dayLeft(command: TurnCommand, db: Connection, nowMs: number): number {
    const sender = senderOf(command, this.#services.storage);
    return turnsLeft(db, { appId: command.app.id, channel: command.channel, nowMs }, { ...command.app.settings, sender });
  }

  #mint(prefix: IdPrefix): string {
    return mintId(prefix, this.#services.nowMs());
  }

  #openingEvents(
    command: TurnCommand,
    thread: Thread,
    effects: readonly ChatTurnEffect[],
    said: Omit<OpeningSaid, 'model' | 'requestId' | 'conversationId' | 'receipts'>,
    confirmed: readonly InvocationRow[] = [],
  ): StreamEvent[] {
    const receipts = confirmed.flatMap((row) => {
      const receipt = this.#scopes.receipt(command, thread.concealment, row);
      return receipt === undefined ? [] : [{ invocation_id: row.id, receipt }];
    });
    const { requestId } = command;
    return openingEvents(effects, { ...said, model: this.#services.model.name, requestId, conversationId: thread.id, receipts });
  }

  write(command: TurnCommand, input: OpenTurnInput): Promise<OpenTurnOutput> {
    return this.#services.storage.write(command.organisationId, 'openTurn', input);
  }

  async commit(organisationId: string, input: Omit<CommitTurnInput, 'nowMs' | 'runBy'>): Promise<boolean> {
    const { billing, storage } = this.#services;
    const nowMs = this.#services.nowMs();
    const committed = await storage.write(organisationId, 'commitTurn', { ...input, nowMs, runBy: this.ownership.process });
    if (committed && input.charge !== null) {
      const { costMicroUsd, billed } = input.charge;
      billing.charged(organisationId, { channel: input.channel, costMicroUsd, atMs: nowMs, billed });
    }
    for (const { expiresAtMs } of input.invocations) {
      if (committed && expiresAtMs !== null) this.#services.noteDeadline(organisationId, expiresAtMs);
    }
    return committed;
  }

  /**
   * Writes that a crash cut off: from now on it is said that nobody knows whether they were done. Answers the epoch at which that
   * was written; `none`: there were none; `refused`: by the fence.
   */
  async loseExecutions(organisationId: string, conversationId: string, fence: () => Fence): Promise<'none' | 'refused' | number> {
    const { storage, nowMs } = this.#services;
    const db = storage.organisation(organisationId);
    const changes = readExecuting(db, conversationId).flatMap((row: InvocationRow) => lostChange(row) ?? []);
    if (changes.length === 0) return 'none';
    const expected = fence();
    const settlements = changes.map((change) => ({ change, card: settledCard(db, change) }));
    const input = { conversationId, fence: expected, settlements, nowMs: nowMs() };
    return (await storage.write(organisationId, 'loseExecutions', input)) ? expected.epoch : 'refused';
  }
}
