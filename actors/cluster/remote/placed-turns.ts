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
import type { Members, NodeRecord } from '../nodes/members.ts';
import type { WireCommand } from '../questions/asks.ts';
import type { Line } from '../questions/line.ts';
import { NodeFailed, type NodeQuestions, NodeUnreachable } from '../questions/node-questions.ts';
import type { Outcome, Placed } from './relay-lines.ts';
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

/** A turn that another node runs, and the connection on which that node sends it. */
type Followed = Placed & { readonly line: Line };

/** The owner's answer: what was asked for, or a snapshot to try again with. */
type Asked<T> = { readonly found: T } | { readonly snapshot: ConversationSnapshot | null };

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
    return this.#placing(
      (snapshot) => this.#services.local.accept(command, snapshot),
      (owner, conversationId) => this.#openAt(owner, conversationId, command),
      // Callbacks of a smoke test work in this process only.
      command.purpose !== 'smoke',
    );
  }

  async attach(caller: Caller, turnId: string): Promise<HostedTurn> {
    const found = await this.#find(caller, turnId);
    return 'line' in found ? this.#relayed(caller, turnId, found) : found;
  }

  /** The turn as it can be read here, or a connection to its owner. @throws Refusal. */
  #find(caller: Caller, turnId: string): Promise<HostedTurn | Followed> {
    return this.#placing<HostedTurn | Followed>(
      (snapshot) => this.#services.local.attach(caller, turnId, snapshot),
      (owner) => this.#followAt(owner, caller, turnId),
      false,
    );
  }

  /** Tries here, then where the row says, until one of them has the turn. @throws Refusal. */
  #placing<T>(
    here: (snapshot: ConversationSnapshot | undefined) => Promise<T>,
    there: (owner: string, conversationId: string | null) => Promise<Asked<T>>,
    mayLeave: boolean,
  ): Promise<T> {
    let snapshot: ConversationSnapshot | undefined;
    return retried(PLACING, async () => {
      try {
        return await here(snapshot);
      } catch (error) {
        const [owner, conversationId] = this.#elsewhere(error, mayLeave);
        const asked = await there(owner, conversationId);
        if ('found' in asked) return asked.found;
        snapshot = asked.snapshot ?? undefined;
        return OVERTAKEN;
      }
    });
  }

  /** Which node to ask, and for which conversation; null: any. @throws the error when no other node can help. */
  #elsewhere(error: unknown, mayLeave: boolean): [owner: string, conversationId: string | null] {
    if (error instanceof OwnedElsewhere) return [error.owner, error.conversationId];
    const peer = error instanceof NodeDraining && mayLeave ? this.#peer() : undefined;
    if (peer === undefined) throw error;
    return [peer.id, null];
  }

  /** Another node that serves, when this one is about to stop. */
  #peer(): NodeRecord | undefined {
    const { members } = this.#services;
    const serving = members.list().filter(({ id, state, url }) => id !== members.self && state === 'serving' && url !== null);
    return serving[Math.floor(Math.random() * serving.length)];
  }

  async #openAt(owner: string, conversationId: string | null, command: Command): Promise<Asked<HostedTurn>> {
    const { members, questions } = this.#services;
    // Only a probe makes a node known as gone, so that its conversations can be taken over.
    if ((await members.probe(owner)) !== 'alive') return { snapshot: null };
    const { caller, turnId } = command;
    try {
      const { answer, line } = await questions.open(owner, 'openTurn', { command: packed(command), conversationId });
      if (answer.outcome === 'released') return answer;
      if (line === null) throw new NodeFailed(owner, 'openTurn');
      return { found: this.#relayed(caller, turnId, { line, ...(await outcomeOf(line, owner)) }) };
    } catch (error) {
      if (conversationId === null && (error instanceof NodeUnreachable || error instanceof NodeFailed)) throw new NodeDraining();
      if (conversationId === null || !(error instanceof NodeUnreachable)) throw error;
      return this.#withoutOwner(caller.organisationId, conversationId, error);
    }
  }

  async #followAt(owner: string, caller: Caller, turnId: string): Promise<Asked<Followed>> {
    const { members, questions, storage } = this.#services;
    if ((await members.probe(owner)) !== 'alive') return { snapshot: null };
    const { organisationId } = caller;
    const row = readTurn(storage.organisation(organisationId), caller.appId, turnId);
    if (row === undefined || row.endedAtMs !== null) return { snapshot: null };
    const { attemptSeq, conversationId, turn } = row;
    try {
      const { answer, line } = await questions.open(owner, 'followTurn', { organisationId, conversationId, turn });
      if (answer.outcome === 'idle') return answer;
      if (line === null) throw new NodeFailed(owner, 'followTurn');
      return { found: { line, conversationId, turn, fromSeq: attemptSeq } };
    } catch (error) {
      if (!(error instanceof NodeUnreachable)) throw error;
      return this.#withoutOwner(organisationId, conversationId, error);
    }
  }

  /** A turn that its owner sends over the connection. */
  #relayed(caller: Caller, turnId: string, { line, conversationId, turn, fromSeq }: Followed): HostedTurn {
    const { log, storage } = this.#services;
    const db = storage.organisation(caller.organisationId);
    const source = new RelayedTurn({
      line,
      fromSeq,
      find: async () => {
        const found = await this.#find(caller, turnId);
        return 'line' in found ? found : found.position;
      },
      committed: (endSeq) => journalSource(db, turn, endSeq),
      turnId,
      log,
    });
    const placeholders = readConversation(db, conversationId)?.placeholders ?? 0;
    const redaction = redactionOf(storage, caller.organisationId, { id: conversationId, placeholders });
    return { conversationId, position: { source, fromSeq }, restoreJson: (json) => redaction.restoreJson(json) };
  }

  /** The owner lives and does not answer: an idle conversation may be taken over, one with an open turn may not. */
  #withoutOwner(organisationId: string, conversationId: string, { how, node }: NodeUnreachable): { snapshot: ConversationSnapshot | null } {
    // The process is likely gone: try again at once.
    if (how === 'closed') return { snapshot: null };
    const db = this.#services.storage.organisation(organisationId);
    const row = readConversation(db, conversationId);
    if (row === undefined || row.owner !== node || this.#services.members.liveness(node) !== 'alive') return { snapshot: null };
    const snapshot = snapshotOf(db, row);
    if (snapshot.leftOpen) throw unreachable();
    return { snapshot };
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
        return (await questions.ask(error.owner, 'stopTurn', { ...caller, turnId })).stopped;
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
    const answers = await Promise.allSettled(others.map(({ id }) => questions.ask(id, 'withdrawTurn', { ...caller, turnId })));
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value.withdrawn);
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
