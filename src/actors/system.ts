/**
 * The door to what lives over time: gateways ask here for turns, and learn nothing of mailboxes, machines or fences.
 * Owns which conversations are active in this process; there is one actor for each, and none for an idle one.
 */
import { Refusal } from '../protocol/errors.ts';
import { mintId } from '../protocol/ids.ts';
import { PING_INTERVAL_MS, WAITING_TURNS_MAX } from '../protocol/limits.ts';
import { PLACEHOLDER_OPENS } from '../protocol/placeholder.ts';
import { readConversation } from '../storage/conversations.ts';
import { readEndUser } from '../storage/end-users.ts';
import { readTurn, type TurnRow } from '../storage/turns.ts';
import { Conversation, type Home, type Opened, type Position } from './conversation.ts';
import { changedSource } from './frame-source.ts';
import { refuseTurn, reusedTurnId } from './turn-admission.ts';
import type { TurnCommand } from './turn-command.ts';
import { TurnOpening, type TurnServices } from './turn-opening.ts';

/** Who asks about a turn that exists. */
export interface TurnCaller extends Home {
  readonly deviceId: string;
}

export interface ActorStats {
  readonly conversations: number;
  readonly runningTurns: number;
  readonly waitingTurns: number;
  readonly readers: number;
}

/** A turn that a watched device has opened, or came back to. */
export interface WatchedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /** Of the answer. */
  readonly messageId: string;
  /** In placeholder form. */
  readonly position: Position;
}

export interface WatchedDevice {
  readonly organisationId: string;
  readonly appId: string;
  readonly deviceId: string;
}

export interface ActorSystem {
  /** Opens a turn, or attaches to it when its turn_id was sent before. @throws Refusal, to be told in the stream. */
  openTurn(command: TurnCommand): Promise<Position>;
  /** Re-attaches to a turn; the same answer when there is none and when it is somebody else's. @throws Refusal 404. */
  attachTurn(caller: TurnCaller, turnId: string): Promise<Position>;
  /** Stops a running turn; false when it had ended already. @throws Refusal 404. */
  stopTurn(caller: TurnCaller, turnId: string): Promise<boolean>;
  /** Tells of each turn that the device opens on the app's test channel from now on. Answers how to stop that. */
  watchDevice(device: WatchedDevice, listener: (turn: WatchedTurn) => void): () => void;
  stats(): ActorStats;
  /** Waits until no turn runs, at most `deadlineMs`; what runs then is interrupted (and can be retried). */
  drain(deadlineMs: number): Promise<void>;
  close(): void;
}

export type ActorServices = TurnServices;

/** An interrupted turn has one commit to make; a disk that takes longer than this is lost anyway. */
const INTERRUPT_MS = 2_000;
const DRAIN_POLL_MS = 10;

function noSuchTurn(): Refusal {
  return new Refusal('invalid_request', 'There is no such turn of this device.', { status: 404 });
}

class Actors implements ActorSystem {
  readonly #services: ActorServices;
  readonly #opening: TurnOpening;
  readonly #conversations = new Map<string, Conversation>();
  readonly #pings: NodeJS.Timeout;
  /** Listeners by app and device: of pairings, which are few and bounded by whoever keeps them. */
  readonly #watchers = new Map<string, Set<(turn: WatchedTurn) => void>>();
  #draining = false;

  constructor(services: ActorServices) {
    this.#services = services;
    this.#opening = new TurnOpening(services);
    // One timer for all streams: a timer each would cost more than the pings.
    this.#pings = setInterval(() => this.#pingAll(), PING_INTERVAL_MS);
    this.#pings.unref();
  }

  #pingAll(): void {
    for (const conversation of this.#conversations.values()) conversation.running?.ping();
  }

  #conversation(id: string, home: Home, isNew = false): Conversation {
    let conversation = this.#conversations.get(id);
    if (conversation === undefined) {
      const { appId, channel, organisationId } = home;
      const db = this.#services.storage.organisation(organisationId);
      conversation = new Conversation(id, isNew, { appId, channel, organisationId }, this.#opening, db, () =>
        this.#conversations.delete(id),
      );
      this.#conversations.set(id, conversation);
    }
    return conversation;
  }

  async openTurn(command: TurnCommand): Promise<Position> {
    // A connection that was open before may still bring turns: they would be cut off before they ended.
    if (this.#draining) throw new Refusal('internal', 'The service is about to stop. Send the same turn again in a few seconds.');
    const db = this.#services.storage.organisation(command.organisationId);
    const home: Home = { organisationId: command.organisationId, appId: command.app.id, channel: command.channel };
    const known = readTurn(db, home.appId, command.turnId);
    if (known !== undefined) return this.#attach(home, command, known);
    const conversationId = this.#continued(command);
    this.#refuse(command, conversationId === null);
    const id = conversationId ?? mintId('cnv', this.#services.nowMs());
    const conversation = this.#conversation(id, home, conversationId === null);
    const opened = await conversation.open(command);
    if (opened !== 'exists') return this.#told(conversation, command, opened);
    // Somebody else opened the same turn meanwhile, in this conversation or in another new one.
    const winner = readTurn(db, home.appId, command.turnId);
    if (winner === undefined) throw new Error('a turn was reported as existing and is not there');
    return this.#attach(home, command, winner);
  }

  #refuse(command: TurnCommand, isNewConversation: boolean): void {
    const { billing, nowMs, storage } = this.#services;
    refuseTurn(command, isNewConversation, storage, nowMs(), billing.platform);
  }

  async #attach(home: Home, command: TurnCommand, row: TurnRow): Promise<Position> {
    if (row.fingerprint !== command.fingerprint) {
      throw reusedTurnId();
    }
    if (row.state === 'failed') this.#refuse(command, false);
    const conversation = this.#conversation(row.conversationId, home);
    return this.#told(conversation, command, position(await conversation.retry(command, row)));
  }

  /** What the device reads, with its own data in place; whoever watches it reads placeholders. */
  #told(conversation: Conversation, command: TurnCommand, position: Position): Position {
    const listeners = command.channel === 'sandbox' ? this.#watchers.get(watchKey(command.app.id, command.deviceId)) : undefined;
    if (listeners !== undefined) {
      const { turnId, organisationId, app } = command;
      const row = readTurn(this.#services.storage.organisation(organisationId), app.id, turnId);
      const turn = { turnId, conversationId: conversation.id, messageId: row?.assistantMessageId ?? '', position };
      for (const listener of listeners) listener(turn);
    }
    return restored(conversation, position);
  }

  watchDevice({ appId, deviceId }: WatchedDevice, listener: (turn: WatchedTurn) => void): () => void {
    const key = watchKey(appId, deviceId);
    const listeners = this.#watchers.get(key) ?? new Set();
    listeners.add(listener);
    this.#watchers.set(key, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#watchers.get(key) === listeners) this.#watchers.delete(key);
    };
  }

  /**
   * The conversation this turn goes on with, null for a new one. A thread that is not the caller's is not continued:
   * a new one opens, and a missing one is answered alike (service.md POST /v1/chat rule 2, "Authentication" 5).
   */
  #continued(command: TurnCommand): string | null {
    const { app, body, channel, deviceId, person } = command;
    const id = body.conversation_id ?? null;
    if (id === null) return null;
    const db = this.#services.storage.organisation(command.organisationId);
    const row = readConversation(db, id);
    const endUserId = person === null ? null : readEndUser(db, app.id, channel, person.externalUserId)?.id;
    const isTheirs =
      row !== undefined &&
      row.appId === app.id &&
      row.channel === channel &&
      (person === null ? row.endUserId === null && row.deviceId === deviceId : row.endUserId === endUserId);
    if (isTheirs) return id;
    if (body.message !== undefined) return null;
    throw new Refusal('invalid_request', 'conversation_id names no conversation of this caller, so there is nothing to answer in it.');
  }

  #theirs(caller: TurnCaller, turnId: string): TurnRow {
    const db = this.#services.storage.organisation(caller.organisationId);
    const row = readTurn(db, caller.appId, turnId);
    const channel = row === undefined ? undefined : readConversation(db, row.conversationId)?.channel;
    if (row === undefined || row.deviceId !== caller.deviceId || channel !== caller.channel) throw noSuchTurn();
    return row;
  }

  async attachTurn(caller: TurnCaller, turnId: string): Promise<Position> {
    const row = this.#theirs(caller, turnId);
    const conversation = this.#conversation(row.conversationId, caller);
    return restored(conversation, position(await conversation.attach(row)));
  }

  async stopTurn(caller: TurnCaller, turnId: string): Promise<boolean> {
    const row = this.#theirs(caller, turnId);
    const conversation = this.#conversations.get(row.conversationId);
    // Its row is there a moment before its run is.
    if (row.endedAtMs === null) await conversation?.opened();
    const running = conversation?.runningTurn(row.turn);
    return running === undefined ? false : running.stop();
  }

  stats(): ActorStats {
    const active = [...this.#conversations.values()];
    const running = active.flatMap((conversation) => (conversation.running === null ? [] : [conversation.running]));
    return {
      conversations: active.length,
      runningTurns: running.length,
      waitingTurns: active.reduce((sum, conversation) => sum + conversation.waiting, 0),
      readers: running.reduce((sum, turn) => sum + turn.log.readers, 0),
    };
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    if (await this.#idleWithin(deadlineMs)) return;
    // Each turn that ends lets the next one in: as many rounds as turns may wait behind one another, and the first.
    for (let round = 0; round <= WAITING_TURNS_MAX; round++) {
      for (const conversation of this.#conversations.values()) conversation.running?.interrupt();
      if (await this.#idleWithin(INTERRUPT_MS)) return;
    }
  }

  async #idleWithin(timeMs: number): Promise<boolean> {
    for (const endMs = this.#services.nowMs() + timeMs; this.#conversations.size > 0; ) {
      if (this.#services.nowMs() >= endMs) return false;
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    return true;
  }

  close(): void {
    clearInterval(this.#pings);
  }
}

function position(opened: Opened): Position {
  if (opened === 'exists') throw new Error('attaching never opens a turn');
  return opened;
}

function watchKey(appId: string, deviceId: string): string {
  return `${appId} ${deviceId}`;
}

/** A position whose reader is the device that owns the conversation. */
function restored(conversation: Conversation, { source, fromSeq }: Position): Position {
  return { source: changedSource(source, (text) => (text.includes(PLACEHOLDER_OPENS) ? conversation.restoreJson(text) : text)), fromSeq };
}

export function createActorSystem(services: ActorServices): ActorSystem {
  return new Actors(services);
}
