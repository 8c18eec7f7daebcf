/** One conversation: its store, what a person does in it, and the performing of what `logic.ts` decides. */
import type { ExtractEvents } from '@xstate/store';
import { WAITING_TURNS_MAX } from '../../../protocol/limits.ts';
import type { ChatBody, ToolResult } from '../../../protocol/runtime/chat.ts';
import type { MessagesReply } from '../../../protocol/runtime/messages.ts';
import { contained } from '../log.ts';
import type { TabTeam } from '../tabs.ts';
import { ClientError, failureOf, logged, ownFailure } from '../transport/failure.ts';
import { backoffMs, chanceOf, type Patience, Pause, patiently } from '../transport/pause.ts';
import type { Ground } from '../transport/requests.ts';
import type { ActionHandlers } from './action-handlers.ts';
import { type CardParts, sendDecision, sendEdit } from './card-requests.ts';
import { findTurn } from './changes.ts';
import { FollowedTurns } from './followed-turns.ts';
import { oldestMessageId } from './history.ts';
import type { Keeping } from './keeping.ts';
import { type ConversationStore, conversationLogic, NEW_CONVERSATION } from './logic.ts';
import { Opinions } from './opinions.ts';
import { Runs } from './runs.ts';
import type { ConversationEvents, ConversationState, KeptConversation } from './state.ts';
import { isLive, isUnregistered, type Payload, type TurnAround, type TurnState } from './turn.ts';

export interface ConversationParts extends Ground {
  readonly handlers: ActionHandlers;
  readonly keeping: Keeping;
  readonly person: () => string | null;
  readonly idleMs: number;
  /** The body of a request: handshake, context and person as they are now. */
  readonly compose: (turnId: string, payload: Payload, conversationId: string | undefined, around?: TurnAround) => Promise<ChatBody>;
  /** What a turn that is asked here takes with it. */
  readonly around: () => Promise<TurnAround>;
  /** The service does not know the manifest. */
  readonly registerAgain: () => void;
  /** Undefined: this tab is alone. */
  readonly team: () => TabTeam | undefined;
}

/** Beside the text of a message. */
export interface MessageOptions {
  readonly selection?: NonNullable<Payload['selection']>;
  /** Ids of uploads, four at most. */
  readonly uploadIds?: readonly string[];
}

/** What another tab that leads is told with what is here. */
type Told = Extract<ExtractEvents<ConversationEvents>, { readonly type: 'send' | 'actionEnded' }>;

const PAGE = 50;
/** After so many failed tries the history is read when somebody asks for it, or the network is back. */
const HISTORY_TRIES_MAX = 8;

export class Conversation {
  readonly store: ConversationStore;
  readonly opinions: Opinions;
  readonly #parts: ConversationParts;
  readonly #followed: FollowedTurns;
  readonly #runs: Runs;
  readonly #historyPause: Pause;
  readonly #patience: Patience;
  #isReading = false;
  #isClosed = false;
  /** Messages and outcomes on their way to the tab that leads, in the order in which they came. */
  #telling: Promise<void> = Promise.resolve();
  /** The turn of this tab for which the manifest was registered again. */
  #registeredFor: string | undefined;
  /** Messages and outcomes that wait to know what is here. */
  readonly #untold = new Set<Told>();

  constructor(parts: ConversationParts, conversationId?: string) {
    this.#parts = parts;
    this.store = conversationLogic.createStore({ ...NEW_CONVERSATION, conversationId });
    const { requests, log, idleMs, surroundings, handlers, keeping, team } = parts;
    const { clock, mintUuid } = surroundings;
    const isClosed = () => this.#isClosed;
    this.#patience = { clock, mintUuid, isOver: isClosed };
    this.#followed = new FollowedTurns({ requests, clock, mintUuid, idleMs, log }, this.store);
    this.#historyPause = new Pause(clock);
    const asking = { requests, patience: this.#patience, log, store: this.store };
    const wish = (event: ExtractEvents<ConversationEvents>) => this.#wish(event);
    this.opinions = new Opinions({ ...asking, wish });
    this.#runs = new Runs({ store: this.store, handlers, keeping, clock, team, wish, tell: (event) => this.#tell(event), isClosed });
    this.#performTurns();
    this.#performCalls(asking);
    contained(this.store, log);
  }

  /** Says something. Returns the turn's id. @throws ClientError `unusable` when too many messages wait already */
  say(text: string, { selection, uploadIds = [] }: MessageOptions = {}): string {
    const attachments = uploadIds.map((upload_id) => ({ upload_id }));
    return this.#send({
      message: { text },
      ...(selection === undefined ? {} : { selection }),
      ...(attachments.length === 0 ? {} : { attachments }),
    });
  }

  /** Submits a form. Returns the turn's id. @throws ClientError as `say` */
  submit(formId: string, values: NonNullable<Payload['form_submission']>['values']): string {
    return this.#send({ form_submission: { form_id: formId, values } });
  }

  /** Messages of this tab from when it led, that no other one knows and the service may not have: whoever leads now sends them, unchanged. */
  sayAgain({ conversationId, turns }: ConversationState, told: readonly TurnState[]): void {
    const saidIn = conversationId ?? null;
    const own = this.#parts.team()?.own;
    for (const { turnId, payload, phase, tab, request, sentAtMs: nowMs } of turns) {
      const isUnsent = phase === 'waiting' || phase === 'preparing' || phase === 'opening';
      if (!isUnsent || tab !== own || payload.tool_results !== undefined || told.some((turn) => turn.turnId === turnId)) continue;
      this.#tell({ type: 'send', turnId, payload, nowMs, tab, saidIn, request });
    }
  }

  retry(turnId: string): void {
    this.#wish({ type: 'retry', turnId });
  }

  /** Ends the turn that runs, or takes back one that waits. */
  stop(turnId: string): void {
    this.#wish({ type: 'stop', turnId });
  }

  discard(turnId: string): void {
    this.#wish({ type: 'discard', turnId });
  }

  /** The person agrees to a card. `typed`: what they typed, where the card asks for words. */
  confirm(invocationId: string, typed?: string): void {
    this.#decide({ invocationId, decision: 'confirm', typed });
  }

  decline(invocationId: string): void {
    this.#decide({ invocationId, decision: 'decline' });
  }

  /** The person changes values of a card; null takes an optional one away. */
  edit(invocationId: string, values: Readonly<Record<string, unknown>>): void {
    this.#wish({ type: 'edit', invocationId, values });
  }

  /** Goes on with what an earlier page left, and reads what the service knows. */
  async resume(kept: KeptConversation | undefined): Promise<void> {
    if (kept !== undefined) this.store.send({ type: 'restored', kept });
    await this.readNewest();
  }

  /** Reads the newest page and what is open. Tries again by itself for a while. Never rejects. */
  async readNewest(): Promise<void> {
    const { conversationId } = this.store.get().context;
    if (conversationId === undefined || this.#isReading) return;
    this.#isReading = true;
    this.store.send({ type: 'historyAsked' });
    const { mintUuid } = this.#parts.surroundings;
    for (let tries = 0; !this.#isClosed; tries++) {
      try {
        const page = await this.#page(conversationId);
        this.#isReading = false;
        this.store.send({ type: 'newestRead', page });
        return;
      } catch (error) {
        const failure = failureOf(error);
        if (tries === 0) this.#say('history_failed', error);
        if (!failure.retryable || tries + 1 >= HISTORY_TRIES_MAX) break;
        await this.#historyPause.wait(failure.retryAfterMs ?? backoffMs(tries, chanceOf(mintUuid())));
      }
    }
    this.#isReading = false;
    this.store.send({ type: 'historyFailed' });
  }

  /** Reads the page before what is there. @throws ClientError */
  async readEarlier(): Promise<void> {
    const { conversationId, history, turns } = this.store.get().context;
    const oldest = oldestMessageId(history, turns);
    if (conversationId === undefined || oldest === undefined || !history.hasMore) return;
    try {
      this.#wish({ type: 'earlierRead', page: await this.#page(conversationId, oldest) });
    } catch (error) {
      this.#say('history_failed', error);
      throw error;
    }
  }

  /** Another tab leads, and this is its state: what is to run here begins. */
  mirror(state: ConversationState): void {
    this.store.send({ type: 'mirrored', state });
    const { team, registerAgain } = this.#parts;
    const own = team()?.own;
    this.#runs.mirrored();
    // The tab that leads has another manifest. It tries the turn once more, and may tell this one the same state again.
    const turn = state.turns.findLast(({ tab }) => tab === own);
    const forgotten = turn !== undefined && isUnregistered(turn) ? turn.turnId : undefined;
    if (forgotten !== undefined && forgotten !== this.#registeredFor) registerAgain();
    this.#registeredFor = forgotten;
  }

  /** Whether what belongs to this tab is to be told here: it is this one's, or its own is gone and this one leads (CLIENT-33). */
  isOwn(tab: string | undefined): boolean {
    const team = this.#parts.team();
    return tab === undefined || team === undefined || tab === team.own || (team.isLeading() && team.isGone(tab));
  }

  wake(): void {
    const team = this.#parts.team();
    if (team?.isLeading() === false) {
      team.forward({ type: 'wake' });
      return;
    }
    this.#followed.wake();
    this.#historyPause.skip();
    this.store.send({ type: 'wake' });
    if (this.store.get().context.history.phase === 'failed') void this.readNewest();
  }

  /** Stops reading. Turns go on at the service, and are kept for the next page. */
  close(): void {
    for (const wish of this.#untold) this.#wish(wish);
    this.#untold.clear();
    this.#isClosed = true;
    this.#followed.close();
    this.#historyPause.skip();
  }

  #decide(decided: ConversationEvents['decide']): void {
    const { surroundings, team } = this.#parts;
    this.#wish({ type: 'decide', ...decided, decisionId: surroundings.mintUuid(), tab: team()?.own });
  }

  /** What a person wants done: here, or in the tab that leads. */
  #wish(event: ExtractEvents<ConversationEvents>): void {
    const team = this.#parts.team();
    if (this.#isClosed) return;
    if (team?.isLeading() === false) team.forward(event);
    else this.store.send(event);
  }

  #send(payload: Payload): string {
    const { turns } = this.store.get().context;
    if (turns.filter(({ phase }) => phase === 'waiting').length >= WAITING_TURNS_MAX) {
      throw new ClientError(ownFailure('unusable', 'Wait for the answer before you send more.', true));
    }
    return this.#sendTurn(payload);
  }

  #sendTurn(payload: Payload): string {
    const { mintUuid, clock } = this.#parts.surroundings;
    const team = this.#parts.team();
    const turnId = mintUuid();
    const wish = { type: 'send', turnId, payload, nowMs: clock.nowMs(), tab: team?.own } as const;
    this.#tell(wish);
    return turnId;
  }

  /** The tab that leads takes it up, and what it is about is here. It is told without that where this tab goes meanwhile. */
  #tell(wish: Told): void {
    if (this.#parts.team()?.isLeading() !== false) {
      this.#wish(wish);
      return;
    }
    this.#untold.add(wish);
    const looked = this.#parts.around();
    this.#telling = this.#telling.then(async () => {
      const around = await looked;
      if (this.#untold.delete(wish)) this.#wish({ ...wish, around });
    });
  }

  #performTurns(): void {
    const { keeping, person, log, registerAgain } = this.#parts;
    this.store.on('prepare', ({ turnId }) => void this.#prepare(turnId));
    this.store.on('follow', ({ turnId, mode, afterMs }) => {
      if (!this.#isClosed) this.#followed.follow(turnId, mode, afterMs);
    });
    this.store.on('sendStop', ({ turnId }) => void this.#stop(turnId));
    this.store.on('readHistory', () => void this.readNewest());
    this.store.on('registerAgain', () => registerAgain());
    this.store.on('keep', () => {
      if (!this.#isClosed) keeping.keep(() => this.store.get().context, person(), this.#parts.team()?.own);
    });
    this.store.on('turnFailed', ({ turnId, failure }) => {
      const requestId = findTurn(this.store.get().context, turnId)?.requestId;
      log.say('warn', 'turn_failed', { turn_id: turnId, request_id: requestId, ...logged(failure) });
    });
  }

  #performCalls(asking: CardParts): void {
    // Results are copied, because the request's own list is written by nobody else.
    this.store.on('continueTurn', ({ results }: { readonly results: readonly ToolResult[] }) => {
      this.#sendTurn({ tool_results: [...results] });
    });
    this.store.on('sendDecision', ({ call, decision, typed }) => void sendDecision(asking, call, decision, typed));
    this.store.on('sendEdit', ({ call, values }) => void sendEdit(asking, call, values));
  }

  async #prepare(turnId: string): Promise<void> {
    const state = this.store.get().context;
    const turn = findTurn(state, turnId);
    if (turn === undefined || this.#isClosed) return;
    const around = turn.tab === this.#parts.team()?.own ? undefined : turn.around;
    const request = turn.request ?? (await this.#parts.compose(turnId, turn.payload, state.conversationId, around));
    if (!this.#isClosed) this.store.send({ type: 'prepared', turnId, request });
  }

  /** Until the turn is open there is nothing to stop: 404 is asked again while it opens. */
  async #stop(turnId: string): Promise<void> {
    const turn = (): TurnState | undefined => findTurn(this.store.get().context, turnId);
    const isThere = (): boolean => {
      const now = turn();
      return now !== undefined && isLive(now);
    };
    try {
      const path = `/v1/chat/${turnId}/stop`;
      await patiently(
        this.#patience,
        () => this.#parts.requests.json({ method: 'POST', path }),
        ({ retryable, status }) => isThere() && (retryable || status === 404),
      );
    } catch (error) {
      if (!isThere()) return;
      this.#say('stop_failed', error);
      this.store.send({ type: 'stopFailed', turnId });
    }
  }

  #page(conversationId: string, before?: string): Promise<MessagesReply> {
    const query = before === undefined ? `limit=${PAGE}` : `limit=${PAGE}&before=${encodeURIComponent(before)}`;
    const path = `/v1/conversations/${encodeURIComponent(conversationId)}/messages?${query}`;
    return this.#parts.requests.object<MessagesReply>({ method: 'GET', path });
  }

  #say(code: 'history_failed' | 'stop_failed', error: unknown): void {
    this.#parts.log.say('warn', code, logged(failureOf(error)));
  }
}
