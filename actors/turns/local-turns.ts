/**
 * The turns that run in this process, also when sent again, retried or re-attached to (CHAT-9, CHAT-12, CHAT-14). Owns which conversations are active here: each has one actor, an idle one has none.
 */

import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { PING_INTERVAL_MS, WAITING_TURNS_MAX } from '../../protocol/limits.ts';
import { readTurn, type TurnRow } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { ActorRecord } from '../actor-record.ts';
import type { Caller, ChannelRef } from '../caller.ts';
import type { Position } from '../frame-source.ts';
import { heldWithin, isEnding } from '../node.ts';
import { ownConversation } from '../people/ownership.ts';
import { continuedConversation, refuseApp, reusedTurnId, theirTurn } from './admission.ts';
import type { Command } from './command.ts';
import { Conversation } from './conversation.ts';
import { type Beginning, beginningOf, type ConversationSnapshot } from './epoch.ts';
import { type TurnOptions, type TurnServices, turnServices } from './facts.ts';
import type { ActorStats, HostedTurn, TurnHost } from './host.ts';
import type { RunningTurn } from './running-turn.ts';

/** An interrupted turn has one commit to make; a disk that takes longer than this is lost anyway. */
const INTERRUPT_MS = 2_000;

export class NodeDraining extends Refusal {
  constructor() {
    super('internal', 'The service is about to stop. Send the same turn again in a few seconds.');
  }
}

export class LocalTurns implements TurnHost {
  readonly #services: TurnServices;
  readonly #conversations = new Map<string, Conversation>();
  readonly #pings: NodeJS.Timeout;
  #counting: NodeJS.Immediate | undefined;

  constructor(options: TurnOptions) {
    this.#services = turnServices(options);
    // One timer for all streams: a timer each would cost more than the pings.
    this.#pings = setInterval(() => this.#pingAll(), PING_INTERVAL_MS);
    this.#pings.unref();
  }

  #pingAll(): void {
    for (const conversation of this.#conversations.values()) conversation.running?.ping();
  }

  /** Has the node told how many there are, once for each loop tick: an event of the store costs some 10 µs. */
  #count(): void {
    this.#counting ??= setImmediate(() => this.#tellCount());
  }

  #tellCount(): void {
    this.#counting = undefined;
    this.#services.node.send({ type: 'counted', counts: { conversations: this.#conversations.size } });
  }

  #db(organisationId: string): Connection {
    return this.#services.storage.organisation(organisationId);
  }

  #conversation(id: string, home: ChannelRef, beginning: Beginning): Conversation {
    const active = this.#conversations.get(id);
    if (active !== undefined) return active;
    const { appId, channel, organisationId } = home;
    const conversation = new Conversation(this.#services, id, { appId, channel, organisationId }, beginning, () => {
      // It may call this again when another actor has taken its place.
      if (this.#conversations.get(id) === conversation) this.#conversations.delete(id);
      this.#count();
    });
    this.#conversations.set(id, conversation);
    this.#count();
    return conversation;
  }

  /** Connections that were open before a drain may still bring turns, which the end of the process would cut off. @throws NodeDraining */
  #refuseToBegin(conversationId: string): void {
    if (isEnding(this.#services.node) && !this.#conversations.has(conversationId)) throw new NodeDraining();
  }

  /** `snapshot`: the conversation as its previous owner handed it over. @throws OwnedElsewhere, NodeDraining, Refusal. */
  async accept(command: Command, snapshot?: ConversationSnapshot): Promise<HostedTurn> {
    const db = this.#db(command.caller.organisationId);
    const known = readTurn(db, command.caller.appId, command.turnId);
    if (known !== undefined) return this.#attach(command, known, snapshot);
    const continued = continuedConversation(db, command);
    refuseApp(command);
    const id = continued?.id ?? mintId('cnv', this.#services.nowMs());
    this.#refuseToBegin(id);
    const conversation = this.#conversation(
      id,
      command.caller,
      continued === null ? { state: 'new' } : beginningOf(id, snapshot, continued),
    );
    const begun = await conversation.enqueue(command);
    if (begun !== 'exists') return hosted(conversation, begun);
    // Another request opened the same turn meanwhile, in this conversation or in another new one.
    const winner = readTurn(db, command.caller.appId, command.turnId);
    if (winner === undefined) throw new Error('a turn was reported as existing and is not there');
    return this.#attach(command, winner);
  }

  async #attach(command: Command, row: TurnRow, snapshot?: ConversationSnapshot): Promise<HostedTurn> {
    if (row.fingerprint !== command.fingerprint) throw reusedTurnId();
    const id = row.conversationId;
    if (row.state === 'failed') {
      refuseApp(command);
      this.#refuseToBegin(id);
    }
    const conversation = this.#conversation(id, command.caller, beginningOf(id, snapshot));
    const begun = await conversation.retry(command, row);
    if (begun !== 'exists') return hosted(conversation, begun);
    // It shared the work of a copy of the request, which found the turn opened.
    return this.#attach(command, readTurn(this.#db(command.caller.organisationId), command.caller.appId, command.turnId) ?? row);
  }

  /** As `accept`, for a turn that exists. */
  async attach(caller: Caller, turnId: string, snapshot?: ConversationSnapshot): Promise<HostedTurn> {
    const row = theirTurn(this.#db(caller.organisationId), caller, turnId);
    const id = row.conversationId;
    const conversation = this.#conversation(id, caller, beginningOf(id, snapshot));
    return hosted(conversation, await conversation.attach(row));
  }

  /**
   * Stops a turn that waits here behind others of its conversation. It has no row yet: the device that sent it, its signed person and the
   * owner of the conversation may stop it. False: no such turn waits here.
   */
  withdraw(caller: Caller, turnId: string): boolean {
    for (const conversation of this.#conversations.values()) {
      const { id, home } = conversation;
      if (conversation.queue.waiting === 0 || home.appId !== caller.appId || home.channel !== caller.channel) continue;
      const isOwn = ownConversation(this.#db(caller.organisationId), id, caller) !== undefined;
      if (conversation.queue.withdraw(turnId, (command) => isOwn || isSentBy(command, caller))) return true;
    }
    return false;
  }

  async stop(caller: Caller, turnId: string): Promise<boolean> {
    if (this.withdraw(caller, turnId)) return true;
    const row = theirTurn(this.#db(caller.organisationId), caller, turnId);
    const conversation = this.#conversations.get(row.conversationId);
    // The row of a turn is there a moment before its attempt is.
    if (row.endedAtMs === null) await conversation?.queue.begun();
    const attempt = conversation?.runningTurn(row.turn);
    if (attempt !== undefined) return attempt.stop();
    // An open turn that does not run here was lost, or runs elsewhere: attaching ends it behind the fence, or says where.
    if (row.endedAtMs === null) await this.attach(caller, turnId);
    return false;
  }

  isActive(conversationId: string): boolean {
    return this.#conversations.has(conversationId);
  }

  leaveTaken(): void {
    for (const conversation of this.#conversations.values()) conversation.leaveIfTaken();
  }

  running(conversationId: string, turn: number): RunningTurn | undefined {
    return this.#conversations.get(conversationId)?.runningTurn(turn);
  }

  stats(): ActorStats {
    const active = [...this.#conversations.values()];
    const running = active.flatMap((conversation) => (conversation.running === null ? [] : [conversation.running]));
    return {
      runningTurns: running.length,
      waitingTurns: active.reduce((sum, conversation) => sum + conversation.queue.waiting, 0),
      readers: running.reduce((sum, turn) => sum + turn.log.readers, 0),
    };
  }

  actors(node: string): ActorRecord[] {
    return [...this.#conversations.values()].map(({ id, home, queue, running, runningTurnId, sinceMs }) => ({
      kind: 'conversation',
      id,
      node,
      organisationId: home.organisationId,
      appId: home.appId,
      state: running?.state ?? 'opening',
      turnId: runningTurnId,
      waiting: queue.waiting,
      sinceMs,
    }));
  }

  async drain(deadlineMs: number): Promise<void> {
    if (await this.#idleWithin(deadlineMs)) return;
    // Each turn that ends lets the next one in: as many rounds as turns may wait behind one another, and the first.
    for (let round = 0; round <= WAITING_TURNS_MAX; round++) {
      for (const conversation of this.#conversations.values()) conversation.running?.interrupt();
      if (await this.#idleWithin(INTERRUPT_MS)) return;
    }
  }

  #idleWithin(timeMs: number): Promise<boolean> {
    // What began in this tick counts, too.
    this.#tellCount();
    return heldWithin(this.#services.node, ({ conversations }) => conversations === 0, timeMs);
  }

  close(): void {
    clearInterval(this.#pings);
  }
}

function isSentBy({ caller: { deviceId }, person }: Command, caller: Caller): boolean {
  if (deviceId !== '' && deviceId === caller.deviceId) return true;
  return person?.verified === true && person.externalUserId === caller.person;
}

function hosted(conversation: Conversation, position: Position): HostedTurn {
  return { conversationId: conversation.id, position, restoreJson: (json) => conversation.restoreJson(json) };
}
