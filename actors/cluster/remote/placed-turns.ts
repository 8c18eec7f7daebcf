/**
 * Turns of a cell of several nodes (CLUSTER-5): each runs where its conversation is owned, whichever node the request
 * reached. A conversation that is idle elsewhere is handed over, one that is busy elsewhere is relayed from there, and one whose
 * owner does not answer is taken over behind the fence.
 */
import type { Logger } from 'pino';
import { Refusal, refusalFrom } from '../../../protocol/errors.ts';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readTurn } from '../../../storage/conversations/turns.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { ActorRecord } from '../../actor-record.ts';
import type { Caller } from '../../caller.ts';
import { redactionOf } from '../../people/redaction.ts';
import { OVERTAKEN, type Retries, retried } from '../../retried.ts';
import type { Command } from '../../turns/command.ts';
import { type ConversationSnapshot, OwnedElsewhere, snapshotOf } from '../../turns/epoch.ts';
import type { ActorStats, HostedTurn, TurnHost } from '../../turns/host.ts';
import { journalSource } from '../../turns/journal.ts';
import { type LocalTurns, NodeDraining } from '../../turns/local-turns.ts';
import { HEARTBEAT_TIMES, OwnClock, STOOD_STILL_MS } from '../nodes/heartbeat.ts';
import type { Members } from '../nodes/members.ts';
import type { Asks, Outcome, Placed, WireCommand } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';
import { NodeFailed, type NodeQuestions, NodeUnreachable } from '../questions/node-questions.ts';
import { RelayedTurn } from './relayed-turn.ts';
import { answerForTurns } from './turn-answers.ts';

export interface PlacedTurnsServices {
  readonly storage: Storage;
  readonly questions: NodeQuestions;
  readonly members: Members;
  readonly local: LocalTurns;
  readonly log: Logger;
  nowMs(): number;
}

/**
 * A conversation that changes hands more often within one request is fought over by a bug. The second attempt comes at once; the pauses then grow,
 * so that two nodes that take the conversation from each other get out of step.
 */
const PLACING: Retries = {
  max: 8,
  pauseMs: (attempt) => (attempt > 2 ? (attempt - 1) * 15 * (0.5 + Math.random()) : 0),
  exhausted: () =>
    new Refusal('internal', 'The conversation kept changing hands between nodes. Send the same turn again.', { retryAfterS: 1 }),
};
const UNREACHABLE_RETRY_S = 2;

type Asked = Asks['turn']['ask'];

/** A turn that another node runs, and the connection on which that node sends it. */
type Followed = Placed & { readonly line: Line };

function unreachable(): Refusal {
  return new Refusal(
    'internal',
    'The conversation is being answered by another node, which cannot be reached at the moment. Send the same turn again in a few seconds.',
    { status: 503, retryAfterS: UNREACHABLE_RETRY_S },
  );
}

function packed({ caller, listen: _, ...command }: Command): WireCommand {
  const { address, appId, channel, deviceId, organisationId, person } = caller;
  return { ...command, caller: { address, appId, channel, deviceId, organisationId, person, minuteLeft: caller.minuteLeft?.() ?? null } };
}

/** The outcome of a turn that `owner` accepted. @throws Refusal; NodeUnreachable. */
function outcomeOf(line: Line, owner: string): Promise<Placed> {
  return new Promise((resolve, reject) => {
    line.hear({
      message: (message) => {
        line.hear(null);
        const [outcome, about] = message as Outcome;
        if (outcome === 'placed') resolve(about);
        else {
          line.close();
          reject(refusalFrom(about));
        }
      },
      closed: () => reject(new NodeUnreachable(owner, 'closed', 'it went while a turn waited there')),
    });
  });
}

export class PlacedTurns implements TurnHost {
  readonly #services: PlacedTurnsServices;
  readonly #looks: NodeJS.Timeout;

  constructor(services: PlacedTurnsServices) {
    this.#services = services;
    answerForTurns(services, this);
    const clock = new OwnClock(HEARTBEAT_TIMES, performance.now());
    this.#looks = setInterval(() => {
      // Other nodes may have taken over conversations that run here: their rows tell.
      if (clock.tick(performance.now()) > STOOD_STILL_MS) services.local.leaveTaken();
    }, HEARTBEAT_TIMES.pingMs);
    this.#looks.unref();
  }

  async accept(command: Command): Promise<HostedTurn> {
    // Without what only this process can do for the caller: it travels.
    const { appId, channel, deviceId, organisationId } = command.caller;
    const caller: Caller = { organisationId, appId, channel, deviceId, person: null };
    const here = (snapshot?: ConversationSnapshot) => this.#services.local.accept(command, snapshot);
    return this.#read(caller, command.turnId, await this.#placing(organisationId, here, () => ({ command: packed(command) }), command));
  }

  async attach(caller: Caller, turnId: string): Promise<HostedTurn> {
    return this.#read(caller, turnId, await this.#find(caller, turnId));
  }

  /** The turn as it can be read here, or a connection to its owner. @throws Refusal. */
  #find(caller: Caller, turnId: string): Promise<HostedTurn | Followed> {
    const here = (snapshot?: ConversationSnapshot) => this.#services.local.attach(caller, turnId, snapshot);
    return this.#placing(caller.organisationId, here, () => ({ caller, turnId }));
  }

  /** Tries here, then where the row says, until one of them has the turn. `opening`: it is to be opened. @throws Refusal. */
  #placing(
    organisationId: string,
    here: (snapshot?: ConversationSnapshot) => Promise<HostedTurn>,
    turn: () => Asked['turn'],
    opening?: Command,
  ): Promise<HostedTurn | Followed> {
    let snapshot: ConversationSnapshot | undefined;
    return retried(PLACING, async () => {
      try {
        return await here(snapshot);
      } catch (error) {
        // Callbacks of a smoke test work in this process only.
        if (error instanceof NodeDraining && opening !== undefined && opening.purpose !== 'smoke') return this.#openAtPeer(turn(), error);
        if (!(error instanceof OwnedElsewhere)) throw error;
        const found = await this.#askOwner(organisationId, error, turn);
        if (found !== null && 'line' in found) return found;
        snapshot = found ?? undefined;
        return OVERTAKEN;
      }
    });
  }

  /** Has another node open the turn when this one is about to stop. @throws NodeDraining when there is none. */
  async #openAtPeer(turn: Asked['turn'], draining: NodeDraining): Promise<Followed> {
    const { members } = this.#services;
    const serving = members.list().filter(({ id, state, url }) => id !== members.self && state === 'serving' && url !== null);
    const peer = serving[Math.floor(Math.random() * serving.length)];
    if (peer === undefined) throw draining;
    try {
      const found = await this.#relayedFrom(peer.id, { turn, conversationId: null });
      if (found === null) throw draining;
      return found;
    } catch (error) {
      throw error instanceof NodeUnreachable || error instanceof NodeFailed ? draining : error;
    }
  }

  /** The turn as the owner relays it, or the conversation to try here with; null: to try here, by its row. @throws Refusal; NodeFailed. */
  async #askOwner(
    organisationId: string,
    { owner, conversationId }: OwnedElsewhere,
    turn: () => Asked['turn'],
  ): Promise<Followed | ConversationSnapshot | null> {
    const { members } = this.#services;
    // Only a probe makes a node known as gone, so that its conversations can be taken over.
    if ((await members.probe(owner)) !== 'alive') return null;
    const rows = () => this.#rowsOf(organisationId, conversationId, owner);
    const before = rows()?.epoch;
    try {
      const found = await this.#relayedFrom(owner, { turn: turn(), conversationId });
      if (found !== null) return found;
      // A turn that the owner begins after its answer has a newer epoch, and is not this node's to end.
      const left = rows();
      return left?.epoch === before ? left : null;
    } catch (error) {
      if (!(error instanceof NodeUnreachable)) throw error;
      // The process is likely gone: try again at once.
      if (error.how === 'closed') return null;
      const left = rows();
      if (left === null || members.liveness(owner) !== 'alive') return null;
      if (left.leftOpen) throw unreachable();
      return left;
    }
  }

  /** The conversation as its rows have it, as long as this node owns it. */
  #rowsOf(organisationId: string, conversationId: string, owner: string): ConversationSnapshot | null {
    const db = this.#services.storage.organisation(organisationId);
    const row = readConversation(db, conversationId);
    return row?.owner === owner ? snapshotOf(db, row) : null;
  }

  /** Null: nothing runs or waits in the conversation there. @throws Refusal; NodeUnreachable; NodeFailed. */
  async #relayedFrom(node: string, ask: Asked): Promise<Followed | null> {
    const { answer, line } = await this.#services.questions.open(node, 'turn', ask);
    if (answer === 'idle') return null;
    if (line === null) throw new NodeFailed(node, 'turn');
    return { line, ...(await outcomeOf(line, node)) };
  }

  /** A turn that is read here, or sent by its owner over the connection. */
  #read(caller: Caller, turnId: string, found: HostedTurn | Followed): HostedTurn {
    if (!('line' in found)) return found;
    const { line, conversationId, fromSeq } = found;
    const { log, storage } = this.#services;
    const db = storage.organisation(caller.organisationId);
    const source = new RelayedTurn({
      line,
      fromSeq,
      find: async () => {
        const next = await this.#find(caller, turnId);
        return 'line' in next ? next : next.position;
      },
      committed: (endSeq) => journalSource(db, readTurn(db, caller.appId, turnId)?.turn ?? 0, endSeq),
      turnId,
      log,
    });
    const placeholders = readConversation(db, conversationId)?.placeholders ?? 0;
    const redaction = redactionOf(storage, caller.organisationId, { id: conversationId, placeholders });
    return { conversationId, position: { source, fromSeq }, restoreJson: (json) => redaction.restoreJson(json) };
  }

  async stop(caller: Caller, turnId: string): Promise<boolean> {
    const { local, members, questions } = this.#services;
    try {
      return await local.stop(caller, turnId);
    } catch (error) {
      // A waiting turn has no row yet that says where it is.
      if (error instanceof Refusal && error.status === 404 && (await this.#withdrawElsewhere(caller, turnId))) return true;
      if (!(error instanceof OwnedElsewhere)) throw error;
      if ((await members.probe(error.owner)) !== 'alive') {
        // The owner may wake and continue: attaching ends the turn behind the fence.
        await this.attach(caller, turnId);
        return false;
      }
      try {
        return (await questions.ask(error.owner, 'stopTurn', { caller, turnId, waiting: false })).stopped;
      } catch (failure) {
        if (!(failure instanceof NodeUnreachable)) throw failure;
        return this.#wasStopped(caller, turnId);
      }
    }
  }

  /** Asks every other node whether the turn waits there. A node that does not answer counts as no. */
  async #withdrawElsewhere(caller: Caller, turnId: string): Promise<boolean> {
    const { members, questions } = this.#services;
    const others = members.list().filter(({ id, url }) => id !== members.self && url !== null);
    const answers = await Promise.allSettled(others.map(({ id }) => questions.ask(id, 'stopTurn', { caller, turnId, waiting: true })));
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value.stopped);
  }

  /** Whether the turn was stopped, by its row, when the owner did not answer in time. @throws Refusal 503 while it is open. */
  #wasStopped({ organisationId, appId }: Caller, turnId: string): boolean {
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

  drain(deadlineMs: number): Promise<void> {
    return this.#services.local.drain(deadlineMs);
  }

  close(): void {
    clearInterval(this.#looks);
    this.#services.local.close();
  }
}
