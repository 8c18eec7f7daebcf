/** The nodes and actors as operators see them (CONSOLE-21, CONSOLE-23): those of this process, or of every node of the cell. */
import { Refusal } from '../../../protocol/errors.ts';
import { CONDITIONS, type Condition, type Conditions } from '../../../storage/health/conditions.ts';
import type { ActorRecord } from '../../actor-record.ts';
import type { NodeStore } from '../../node.ts';
import { NodeFailed, type NodeQuestions, NodeUnreachable } from '../questions/node-questions.ts';
import type { Members } from './members.ts';
import { type NodeRecord, recordOf } from './node-record.ts';

/** Actors of one node in an answer: some 200 KB, and more than a person reads. */
const ACTORS_PER_NODE_MAX = 1_000;
/** Conditions of one node, of its apps and organisations: some 200 KB. */
const CONDITIONS_PER_NODE_MAX = 1_000;

export interface CensusServices {
  /** The live actors of this process. */
  actors(): ActorRecord[];
  /** What is wrong with this process. */
  readonly conditions: Pick<Conditions, 'list'>;
  /** Does what SIGTERM does. */
  drain(): void;
  /** This process. */
  readonly node: NodeStore;
}

export interface CellServices {
  readonly members: Members;
  readonly questions: NodeQuestions;
}

export interface ClusterView {
  /** Nodes that are alive, the one that answers first; a process without a cluster alone. */
  nodes(): readonly NodeRecord[];
  /** Nodes of other cells, as Redis knows them; none while it is away. */
  elsewhere(): Promise<readonly NodeRecord[]>;
  /** Null: this process needs no Redis. */
  redis(): 'connected' | 'away' | null;
  /** Live actors of all nodes; `unreachable` are ids of nodes that did not answer in time, whose actors are missing. Never rejects. */
  actors(): Promise<{ readonly actors: readonly ActorRecord[]; readonly unreachable: readonly string[] }>;
  /** What is wrong with the nodes: that of this one, then what only others say, with their names. One that does not answer in time says nothing. Never rejects. */
  conditions(): Promise<readonly Condition[]>;
  /**
   * Has the node do what SIGTERM does; settles once it has begun, not when it is done. False: there is no such node.
   * @throws Refusal 503 when it did not answer.
   */
  drain(node: string): Promise<boolean>;
}

/** For a process that is alone. */
export function soleView({ actors, conditions, drain, node: self }: CensusServices): ClusterView {
  return {
    nodes: () => [recordOf(self)],
    elsewhere: async () => [],
    redis: () => null,
    actors: async () => ({ actors: actors(), unreachable: [] }),
    conditions: async () => conditions.list(),
    async drain(node) {
      if (node !== self.get().context.id) return false;
      // After the answer has been sent.
      setImmediate(drain);
      return true;
    },
  };
}

/** For a cell of several nodes. It also answers the questions of other nodes. */
export function cellView({ members, questions }: CellServices, { actors, conditions, drain, node: self }: CensusServices): ClusterView {
  questions.answer('actors', async () => ({ answer: { actors: actors().slice(0, ACTORS_PER_NODE_MAX) } }));
  questions.answer('conditions', async () => ({ answer: { conditions: conditions.list().slice(0, CONDITIONS_PER_NODE_MAX) } }));
  questions.answer('drain', async () => {
    setImmediate(drain);
    return { answer: { draining: true as const } };
  });
  const others = () => members.list().filter(({ id }) => id !== members.self);
  return {
    nodes: () => members.list(),
    async elsewhere() {
      const everywhere = await members.everywhere().catch(() => []);
      return everywhere.filter(({ cell }) => cell !== self.get().context.cell);
    },
    redis: () => self.get().context.redis,
    async actors() {
      const unreachable: string[] = [];
      const asked = others().map(async ({ id }) => {
        try {
          return (await questions.ask(id, 'actors', {})).actors;
        } catch {
          unreachable.push(id);
          return [];
        }
      });
      const theirs = (await Promise.all(asked)).flat();
      return { actors: [...actors(), ...theirs], unreachable };
    },
    async conditions() {
      const theirs = others().map(async ({ id, name }) => {
        // An earlier release knows no such question.
        const { conditions: held } = await questions.ask(id, 'conditions', {}).catch(() => ({ conditions: [] }));
        return held.map((condition) => ({ ...condition, detail: `${name}: ${condition.detail}` }));
      });
      return heldOnce([...conditions.list(), ...(await Promise.all(theirs)).flat()]);
    },
    async drain(node) {
      if (node === members.self) setImmediate(drain);
      else if (!others().some(({ id }) => id === node)) return false;
      else await askToDrain(questions, node);
      return true;
    },
  };
}

/** What several nodes say of the same is told as the first says it, since the earliest of them. */
function heldOnce(conditions: readonly Condition[]): readonly Condition[] {
  const held = new Map<string, Condition>();
  for (const condition of conditions) {
    const key = `${condition.name} ${condition.subject}`;
    const known = held.get(key) ?? condition;
    held.set(key, { ...known, sinceMs: Math.min(known.sinceMs, condition.sinceMs) });
  }
  return [...held.values()].sort((one, other) => CONDITIONS.indexOf(one.name) - CONDITIONS.indexOf(other.name));
}

async function askToDrain(questions: NodeQuestions, node: string): Promise<void> {
  try {
    await questions.ask(node, 'drain', {});
  } catch (error) {
    if (!(error instanceof NodeUnreachable || error instanceof NodeFailed)) throw error;
    throw new Refusal('internal', `Node ${node} does not answer. Send SIGTERM to its process, or try again.`, {
      status: 503,
      retryAfterS: 2,
    });
  }
}
