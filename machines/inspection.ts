/**
 * A trace in the frames of `@statelyai/inspect`, which viewers of statecharts read: an actor with where it is now, then each event and what came
 * of it (INSPECT-3). Pure. A frame holds what the trace holds and nothing else: context comes of a replay of what was kept.
 */
import type { AnyStateMachine } from 'xstate';
import type { GraphEdge, GraphNode, MachineGraph } from './graph.ts';
import { type Stepper, stateValue, stepper } from './step.ts';
import type { Kept, KeptEvent, TraceStep } from './trace.ts';

/** The release of `@statelyai/inspect` whose frames these are. */
const PROTOCOL_VERSION = '0.7.2';

/** Where an actor is, as a viewer is told. */
interface InspectedSnapshot {
  readonly status: 'active' | 'done';
  readonly value: unknown;
  readonly context: unknown;
}

interface FrameHead {
  readonly sessionId: string;
  readonly rootId: string;
  /** Milliseconds since 1970, as text. */
  readonly createdAt: string;
  readonly id: string;
  readonly _version: string;
}

/** One text frame, as JSON has it. */
export type InspectionFrame = FrameHead &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId?: string;
        readonly definition?: string;
        readonly snapshot: InspectedSnapshot;
      }
    | { readonly type: '@xstate.event'; readonly event: KeptEvent }
    | { readonly type: '@xstate.snapshot'; readonly event: KeptEvent; readonly snapshot: InspectedSnapshot }
  );

export interface InspectedInstance {
  /** Names it among all that a viewer sees. */
  readonly sessionId: string;
  /** The turn of an action call; absent: nobody began it. */
  readonly parentId?: string;
  readonly name: string;
  /** The definition that made the trace; absent where none is kept. */
  readonly graph?: MachineGraph;
  /** The machine, if this release has the one that made the trace. */
  readonly machine?: AnyStateMachine;
  readonly input?: Kept;
}

interface ConfigTransition {
  readonly target?: string;
  readonly guard?: { readonly type: string };
  readonly actions?: readonly { readonly type: string }[];
}

interface ConfigNode {
  id?: string;
  type?: 'final' | 'parallel';
  initial?: string;
  states?: Record<string, ConfigNode>;
  on?: Record<string, ConfigTransition[]>;
}

const lastOf = (id: string) => id.slice(id.lastIndexOf('.') + 1);

function transitionOf(graph: MachineGraph, { from, to, guard, actions }: GraphEdge): ConfigTransition {
  return {
    ...(to === from ? {} : { target: `#${graph.id}.${to}` }),
    ...(guard === undefined ? {} : { guard: { type: guard } }),
    ...(actions.length === 0 ? {} : { actions: actions.map((type) => ({ type })) }),
  };
}

function onOf(graph: MachineGraph, id: string): Pick<ConfigNode, 'on'> {
  const on: Record<string, ConfigTransition[]> = {};
  for (const edge of graph.edges) if (edge.from === id) on[edge.event] = [...(on[edge.event] ?? []), transitionOf(graph, edge)];
  return Object.keys(on).length === 0 ? {} : { on };
}

function insideOf(graph: MachineGraph, parent: string | undefined, isParallel: boolean): Pick<ConfigNode, 'initial' | 'states' | 'type'> {
  const inside = graph.nodes.filter((node) => node.parent === parent);
  if (inside.length === 0) return {};
  const initial = inside.find((node) => node.initial);
  return {
    ...(isParallel ? { type: 'parallel' } : {}),
    ...(isParallel || initial === undefined ? {} : { initial: lastOf(initial.id) }),
    states: Object.fromEntries(inside.map((node) => [lastOf(node.id), nodeConfig(graph, node)])),
  };
}

function nodeConfig(graph: MachineGraph, node: GraphNode): ConfigNode {
  return {
    ...(node.final ? { type: 'final' } : {}),
    ...insideOf(graph, node.id, node.parallel === true),
    ...onOf(graph, node.id),
  };
}

/** A definition as XState's configuration of a machine, in JSON: viewers draw it. */
export function inspectedDefinition(graph: MachineGraph): string {
  return JSON.stringify({ id: graph.id, ...insideOf(graph, undefined, graph.parallel === true), ...onOf(graph, graph.id) });
}

/** Steps a fresh machine along with a trace, for the context; nothing once the two differ, or where this release lacks the machine. */
class Context {
  #stepper: Stepper<AnyStateMachine> | undefined;

  constructor({ machine, input }: InspectedInstance) {
    if (machine !== undefined) this.#stepper = stepper(machine, input === undefined ? {} : { input });
  }

  follow({ event, from, to }: TraceStep): void {
    if (this.#stepper?.state !== from) this.#stepper = undefined;
    const reached = this.#stepper?.send(event);
    this.#stepper?.takeSteps();
    if (reached?.state !== to) this.#stepper = undefined;
  }

  get value(): unknown {
    return this.#stepper?.snapshot.context ?? {};
  }
}

/** Tells of one instance, from where it is when it is first looked at. */
export class Inspection {
  readonly #instance: InspectedInstance;
  readonly #context: Context;
  readonly #finals: ReadonlySet<string>;
  #told = 0;

  constructor(instance: InspectedInstance) {
    this.#instance = instance;
    this.#context = new Context(instance);
    this.#finals = new Set(instance.graph?.nodes.filter((node) => node.final && node.parent === undefined).map(({ id }) => id));
  }

  /** The actor as it is, the first time; then a pair of frames for each step that was not told. `steps`: the whole trace. */
  tell(steps: readonly TraceStep[]): readonly InspectionFrame[] {
    const last = steps.at(-1);
    if (last === undefined) return [];
    const isFirst = this.#told === 0;
    const fresh = steps.slice(this.#told);
    const frames: InspectionFrame[] = [];
    for (const step of fresh) {
      this.#told += 1;
      this.#context.follow(step);
      if (!isFirst) frames.push(...this.#stepFrames(step));
    }
    return isFirst ? [this.#actorFrame(last)] : frames;
  }

  #head({ atMs }: TraceStep, part: string): FrameHead {
    const { sessionId, parentId = sessionId } = this.#instance;
    const id = `${sessionId}/${this.#told}/${part}`;
    return { sessionId, rootId: parentId, createdAt: String(atMs), id, _version: PROTOCOL_VERSION };
  }

  #snapshot({ to }: TraceStep): InspectedSnapshot {
    return { status: this.#finals.has(to) ? 'done' : 'active', value: stateValue(to), context: this.#context.value };
  }

  #actorFrame(step: TraceStep): InspectionFrame {
    const { name, parentId, graph } = this.#instance;
    return {
      type: '@xstate.actor',
      ...this.#head(step, 'actor'),
      name,
      ...(parentId === undefined ? {} : { parentId }),
      ...(graph === undefined ? {} : { definition: inspectedDefinition(graph) }),
      snapshot: this.#snapshot(step),
    };
  }

  #stepFrames(step: TraceStep): InspectionFrame[] {
    const { event } = step;
    return [
      { type: '@xstate.event', ...this.#head(step, 'event'), event },
      { type: '@xstate.snapshot', ...this.#head(step, 'snapshot'), event, snapshot: this.#snapshot(step) },
    ];
  }
}
