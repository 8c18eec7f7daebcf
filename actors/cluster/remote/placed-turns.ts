/**
 * Turns of a cell of several nodes (CLUSTER-5): each runs where its conversation is owned, whichever node the request
 * reached. A conversation that is idle elsewhere is handed over, one that is busy elsewhere is read from there, and one whose
 * owner does not answer is taken over behind the fence.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Refusal } from '../../../protocol/errors.ts';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { ActorRecord } from '../../actor-record.ts';
import type { Position } from '../../frame-source.ts';
import { concealmentOf } from '../../people/concealment.ts';
import type { TurnCommand } from '../../turns/command.ts';
import { type ConversationSnapshot, OwnedElsewhere, snapshotOf } from '../../turns/epoch.ts';
import type { ActorStats, HostedTurn, TurnCaller, TurnHost } from '../../turns/host.ts';
import { type LocalTurns, NodeDraining } from '../../turns/local-turns.ts';
import { type Bus, NodeFailed, NodeUnreachable } from '../bus/bus.ts';
import type { WireCommand } from '../bus/messages.ts';
import { HEARTBEAT_TIMES, OwnClock, STOOD_STILL_MS } from '../nodes/heartbeat.ts';
import type { Members, NodeRecord } from '../nodes/members.ts';
import { type Placed, RemoteStreams, StreamLost } from './remote-streams.ts';
import { RemoteTurn } from './remote-turn.ts';
import { TurnDesk } from './turn-desk.ts';

export interface PlacedTurnsServices {
  readonly storage: Storage;
  readonly bus: Bus;
  readonly members: Members;
  readonly local: LocalTurns;
  readonly log: Logger;
  nowMs(): number;
}

/** A conversation that changes hands this often within one request is fought for by a bug, not by requests. */
const PLACING_TRIES = 8;
/** Grows with each try, so that two nodes that take turns at taking a conversation get out of step. */
const PLACING_PAUSE_MS = 15;
const UNREACHABLE_RETRY_S = 2;

/** What came of asking the owner: a turn to read, or something to try again with. */
type Asked = { readonly turn: HostedTurn } | { readonly snapshot: ConversationSnapshot | null };

function unreachable(): Refusal {
  return new Refusal(
    'internal',
    'The conversation is being answered by another node, which cannot be reached at the moment. Send the same turn again in a few seconds.',
    { status: 503, retryAfterS: UNREACHABLE_RETRY_S },
  );
}

function packed({ app, minuteLeft, onAction: _a, onNothing: _n, onPassages: _p, ...command }: TurnCommand): WireCommand {
  return { ...command, appId: app.id, minuteLeft: minuteLeft?.() ?? null };
}

export class PlacedTurns implements TurnHost {
  readonly #services: PlacedTurnsServices;
  readonly #streams: RemoteStreams;
  readonly #desk: TurnDesk;
  readonly #looks: NodeJS.Timeout;

  constructor(services: PlacedTurnsServices) {
    this.#services = services;
    const { bus, members } = services;
    this.#streams = new RemoteStreams(bus, members);
    this.#desk = new TurnDesk({ ...services, host: this });
    const clock = new OwnClock(HEARTBEAT_TIMES, performance.now());
    this.#looks = setInterval(() => {
      // Others may have taken what runs here, and its rows say so.
      if (clock.tick(performance.now()) > STOOD_STILL_MS) services.local.leaveTaken();
    }, HEARTBEAT_TIMES.pingMs);
    this.#looks.unref();
  }

  async accept(command: TurnCommand): Promise<HostedTurn> {
    return this.#placing(
      (snapshot) => this.#services.local.accept(command, snapshot),
      (owner, conversationId) => this.#openAt(owner, conversationId, command),
      // What listens to a smoke test listens here.
      command.purpose !== 'smoke',
    );
  }

  async attach(caller: TurnCaller, turnId: string): Promise<HostedTurn> {
    return this.#placing(
      (snapshot) => this.#services.local.attach(caller, turnId, snapshot),
      (owner) => this.#followAt(owner, caller, turnId),
      false,
    );
  }

  /** Tries here, then where the row says, until one of them has the turn. @throws Refusal. */
  async #placing(
    here: (snapshot: ConversationSnapshot | undefined) => Promise<HostedTurn>,
    there: (owner: string, conversationId: string | null) => Promise<Asked>,
    mayLeave: boolean,
  ): Promise<HostedTurn> {
    let snapshot: ConversationSnapshot | undefined;
    for (let attempt = 0; attempt < PLACING_TRIES; attempt++) {
      if (attempt > 1) await pause(attempt * PLACING_PAUSE_MS * (0.5 + Math.random()));
      try {
        return await here(snapshot);
      } catch (error) {
        const asked = await this.#elsewhere(error, there, mayLeave);
        if ('turn' in asked) return asked.turn;
        snapshot = asked.snapshot ?? undefined;
      }
    }
    throw new Refusal('internal', 'The conversation kept changing hands between nodes. Send the same turn again.', { retryAfterS: 1 });
  }

  #elsewhere(error: unknown, there: (owner: string, conversationId: string | null) => Promise<Asked>, mayLeave: boolean): Promise<Asked> {
    if (error instanceof OwnedElsewhere) return there(error.owner, error.conversationId);
    const peer = error instanceof NodeDraining && mayLeave ? this.#peer() : undefined;
    if (peer === undefined) throw error;
    return there(peer.id, null);
  }

  /** Some other node that serves; this one is about to stop. */
  #peer(): NodeRecord | undefined {
    const { members } = this.#services;
    const serving = members.list().filter(({ id, state, url }) => id !== members.self && state === 'serving' && url !== null);
    return serving[Math.floor(Math.random() * serving.length)];
  }

  async #openAt(owner: string, conversationId: string | null, command: TurnCommand): Promise<Asked> {
    const { bus, members } = this.#services;
    // Looking is what makes a node known as gone, and its conversations free to take.
    if ((await members.probe(owner)) !== 'alive') return { snapshot: null };
    const { app, channel, deviceId, organisationId, turnId } = command;
    const caller: TurnCaller = { organisationId, appId: app.id, channel, deviceId };
    const { stream, placed } = this.#streams.expect(owner, (told) => this.#remote(owner, caller, turnId, told));
    try {
      const answer = await bus.ask(owner, 'openTurn', { command: packed(command), conversationId, reader: bus.self, stream });
      if (answer.outcome === 'released') {
        this.#streams.forget(stream);
        return answer;
      }
      const { placed: told, remote } = await placed;
      return { turn: this.#hosted(organisationId, told.conversationId, { source: remote, fromSeq: told.fromSeq }) };
    } catch (error) {
      this.#streams.leave(stream);
      if (conversationId === null && error instanceof NodeFailed) throw new NodeDraining();
      if (!(error instanceof NodeUnreachable || error instanceof StreamLost)) throw error;
      if (conversationId === null) throw new NodeDraining();
      return this.#withoutOwner(organisationId, conversationId, owner);
    }
  }

  async #followAt(owner: string, caller: TurnCaller, turnId: string): Promise<Asked> {
    const { bus, members, storage } = this.#services;
    if ((await members.probe(owner)) !== 'alive') return { snapshot: null };
    const row = readTurn(storage.organisation(caller.organisationId), caller.appId, turnId);
    if (row === undefined || row.endedAtMs !== null) return { snapshot: null };
    const { organisationId } = caller;
    const { conversationId, turn, nextSeq } = row;
    const { stream, remote } = this.#streams.follow(owner, (number) =>
      this.#remote(owner, caller, turnId, { stream: number, conversationId, turn, fromSeq: nextSeq }),
    );
    try {
      const ask = { organisationId, conversationId, turn, reader: bus.self, stream, fromSeq: nextSeq };
      const answer = await bus.ask(owner, 'followTurn', ask);
      if (answer.outcome === 'following') {
        return { turn: this.#hosted(organisationId, conversationId, { source: remote, fromSeq: row.attemptSeq }) };
      }
      this.#streams.forget(stream);
      return { snapshot: answer.snapshot };
    } catch (error) {
      this.#streams.leave(stream);
      if (!(error instanceof NodeUnreachable)) throw error;
      return this.#withoutOwner(organisationId, conversationId, owner);
    }
  }

  /** The reader's end of a turn that runs at `owner`. */
  #remote(owner: string, caller: TurnCaller, turnId: string, { stream, conversationId, turn, fromSeq }: Placed): RemoteTurn {
    const { bus, log, storage, nowMs } = this.#services;
    const { appId, organisationId } = caller;
    return new RemoteTurn({
      db: storage.organisation(organisationId),
      appId,
      turnId,
      turn,
      fromSeq,
      log,
      nowMs,
      refollow: async (seq) => {
        const ask = { organisationId, conversationId, turn, reader: bus.self, stream, fromSeq: seq };
        return (await bus.ask(owner, 'followTurn', ask)).outcome;
      },
      takeOver: async () => (await this.attach(caller, turnId)).position,
      leave: () => this.#streams.leave(stream),
      lag: (isLagging) => bus.tell(owner, 'lagging', { reader: bus.self, stream, isLagging }),
    });
  }

  /** The owner lives and cannot be asked: what nobody works on may be taken all the same, what runs there may not. */
  #withoutOwner(organisationId: string, conversationId: string, owner: string): Asked {
    const db = this.#services.storage.organisation(organisationId);
    const row = readConversation(db, conversationId);
    if (row === undefined || row.owner !== owner || this.#services.members.liveness(owner) !== 'alive') return { snapshot: null };
    const snapshot = snapshotOf(db, row);
    if (snapshot.leftOpen) throw unreachable();
    return { snapshot };
  }

  #hosted(organisationId: string, conversationId: string, position: Position): HostedTurn {
    const { storage } = this.#services;
    const row = readConversation(storage.organisation(organisationId), conversationId);
    const concealment = concealmentOf(storage, organisationId, { id: conversationId, placeholders: row?.placeholders ?? 0 });
    return { conversationId, position, restoreJson: (json) => concealment.restoreJson(json) };
  }

  async stop(caller: TurnCaller, turnId: string): Promise<boolean> {
    const { bus, local, members } = this.#services;
    try {
      return await local.stop(caller, turnId);
    } catch (error) {
      // One that waits has no row that would say where.
      if (error instanceof Refusal && error.status === 404 && (await this.#withdrawElsewhere(caller, turnId))) return true;
      if (!(error instanceof OwnedElsewhere)) throw error;
      if ((await members.probe(error.owner)) !== 'alive') {
        // It may wake and go on: looking at the turn ends it behind the fence.
        await this.attach(caller, turnId);
        return false;
      }
      try {
        return (await bus.ask(error.owner, 'stopTurn', { ...caller, turnId })).stopped;
      } catch (failure) {
        if (!(failure instanceof NodeUnreachable)) throw failure;
        return this.#wasStopped(caller, turnId);
      }
    }
  }

  /** Asks every other node whether the turn waits there. One that does not answer has nobody who waits for it either. */
  async #withdrawElsewhere(caller: TurnCaller, turnId: string): Promise<boolean> {
    const { bus, members } = this.#services;
    const others = members.list().filter(({ id, url }) => id !== members.self && url !== null);
    const answers = await Promise.allSettled(others.map(({ id }) => bus.ask(id, 'withdrawTurn', { ...caller, turnId })));
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value.withdrawn);
  }

  /** The turn of a stop that was not answered in time, perhaps because a write of its turn is still out. @throws Refusal 503 */
  #wasStopped({ organisationId, appId }: TurnCaller, turnId: string): boolean {
    const row = readTurn(this.#services.storage.organisation(organisationId), appId, turnId);
    if (row === undefined || row.endedAtMs === null) throw unreachable();
    return (JSON.parse(row.snapshot) as { stopped?: boolean }).stopped === true;
  }

  stats(): ActorStats {
    return this.#services.local.stats();
  }

  actors(node: string): ActorRecord[] {
    return this.#services.local.actors(node);
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#services.members.update({ state: 'draining' });
    await this.#services.local.drain(deadlineMs);
  }

  close(): void {
    clearInterval(this.#looks);
    this.#desk.close();
    this.#streams.close();
    this.#services.local.close();
  }
}
