/**
 * Runs one machine of `machines/` purely: an event in, the next state and the emitted effects out. Nothing is
 * performed here: the caller commits first and performs afterwards (docs/architecture.md).
 */
import {
  type AnyActor,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EmittedFrom,
  type EventFromLogic,
  type SnapshotFrom,
  type StateValue,
} from 'xstate';
import type { MadeStep } from './trace.ts';

/** A machine of which only that it is one is known. */
export type AnyMachine = AnyStateMachine;

export interface Step<Machine extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<Machine>;
  /** Dotted path of the state, e.g. `pending.clean`; for a parallel machine, JSON of its regions' states. */
  readonly state: string;
  readonly effects: readonly EmittedFrom<Machine>[];
}

/** `{ pending: 'clean' }` → `pending.clean`. The states of parallel regions stand beside each other: they are JSON, `{"left":"idle",…}`. */
export function statePath(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [only, ...others] = Object.entries(value);
  if (only === undefined || only[1] === undefined || others.length > 0) return JSON.stringify(value);
  return `${only[0]}.${statePath(only[1])}`;
}

/** `pending.clean` → `{ pending: 'clean' }`, and JSON of parallel regions → their states. @throws SyntaxError on broken JSON. */
export function stateValue(path: string): StateValue {
  if (path.startsWith('{')) return JSON.parse(path) as StateValue;
  const dot = path.indexOf('.');
  return dot < 0 ? path : { [path.slice(0, dot)]: stateValue(path.slice(dot + 1)) };
}

export interface Stepper<Machine extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<Machine>;
  readonly state: string;
  send(event: EventFromLogic<Machine>): Step<Machine>;
  /** The steps since they were last taken: whoever commits the state keeps them with it. */
  takeSteps(): TakenSteps;
}

export interface TakenSteps {
  /** What the machine was started with; only the first time, and not of one that was stored. */
  readonly input?: unknown;
  readonly made: readonly MadeStep[];
}

export interface Stored {
  /** As in `Step`, or the machine's own value, which is easier to store for a parallel machine. */
  readonly state: StateValue;
  readonly context: object;
}

function restoredValue({ state }: Stored): StateValue {
  return typeof state === 'string' ? stateValue(state) : state;
}

/** By machine: an actor that is never started. XState's logic wants one beside the snapshot; machines here have no children and no clock. */
const actors = new WeakMap<AnyStateMachine, AnyActor>();

function scopeOf(machine: AnyStateMachine, emit: (effect: never) => void): AnyActorScope {
  let self = actors.get(machine);
  if (self === undefined) {
    self = createActor(machine);
    actors.set(machine, self);
  }
  return {
    self,
    id: self.id,
    sessionId: self.sessionId,
    logger: () => {},
    defer: (work) => work(),
    emit: emit as AnyActorScope['emit'],
    system: self.system,
    stopChild: () => {},
    actionExecutor: ({ exec, info, params }) => exec?.(info, params),
  };
}

/** By machine: what it starts with where it takes no input. Snapshots are never changed, and making this one costs as much as two transitions. */
const fresh = new WeakMap<AnyStateMachine, AnyMachineSnapshot>();

function firstSnapshot(machine: AnyStateMachine, input: unknown): AnyMachineSnapshot {
  const scope = () => scopeOf(machine, () => {});
  if (input !== undefined) return machine.getInitialSnapshot(scope(), input as never);
  let snapshot = fresh.get(machine);
  if (snapshot === undefined) {
    snapshot = machine.getInitialSnapshot(scope(), undefined as never);
    fresh.set(machine, snapshot);
  }
  return snapshot;
}

type AnyTransition = ReturnType<AnyStateMachine['getTransitionData']>[number];

interface Given {
  readonly context: object;
  readonly event: unknown;
}

/** An action as `assign` and `emit` make it: a value, or what makes one of what it is given. */
type PlainAction =
  | { readonly type: 'xstate.assign'; readonly assignment: unknown }
  | { readonly type: 'xstate.emit'; readonly event: unknown };

function madeOf(given: Given, value: unknown): unknown {
  return typeof value === 'function' ? (value as (given: Given) => unknown)(given) : value;
}

function assigned(given: Given, assignment: unknown): object {
  const next: Record<string, unknown> = { ...given.context };
  const changes = madeOf(given, assignment) as Readonly<Record<string, unknown>>;
  for (const name in changes) next[name] = typeof assignment === 'function' ? changes[name] : madeOf(given, changes[name]);
  return next;
}

/**
 * A machine whose states have no states of their own, do nothing when they are entered or left, and whose transitions only assign and emit,
 * as that of turns. XState chooses the transition; made here, it takes a fifth of the time, and a tenth of the memory, of the general algorithm.
 */
class PlainMachine {
  readonly #machine: AnyStateMachine;
  readonly #actions = new Map<AnyTransition, readonly PlainAction[]>();
  /** What of a snapshot depends on the state alone. */
  readonly #resting = new Map<string, AnyMachineSnapshot>();

  private constructor(machine: AnyStateMachine) {
    this.#machine = machine;
  }

  /** Null for a machine that has more than that. */
  static of(machine: AnyStateMachine): PlainMachine | null {
    const plain = new PlainMachine(machine);
    const { root } = machine;
    const nodes = Object.values(machine.states);
    const isSimple = ({ entry, exit, invoke, always }: typeof root) =>
      entry.length + exit.length + invoke.length + (always?.length ?? 0) === 0;
    const areFlat = nodes.every((node) => (node.type === 'atomic' || node.type === 'final') && node.output === undefined);
    if (root.type !== 'compound' || !areFlat || ![root, ...nodes].every(isSimple)) return null;
    return [root, ...nodes].every((node) => [...node.transitions.values()].flat().every((each) => plain.#takes(each))) ? plain : null;
  }

  #takes(transition: AnyTransition): boolean {
    const { actions } = this.#machine.implementations;
    const made = transition.actions.map((action) => (typeof action === 'string' ? actions[action] : action) as { readonly type?: string });
    this.#actions.set(transition, made as unknown as readonly PlainAction[]);
    return made.every(({ type }) => type === 'xstate.assign' || type === 'xstate.emit');
  }

  at(state: string, context: object): AnyMachineSnapshot {
    let resting = this.#resting.get(state);
    if (resting === undefined) {
      resting = this.#machine.resolveState({ value: state, context });
      this.#resting.set(state, resting);
    }
    return { ...resting, context } as AnyMachineSnapshot;
  }

  transition(snapshot: AnyMachineSnapshot, event: EventFromLogic<AnyStateMachine>, emit: (effect: never) => void): AnyMachineSnapshot {
    const [transition] = this.#machine.getTransitionData(snapshot, event);
    if (transition === undefined) return snapshot;
    let context = snapshot.context as object;
    for (const action of this.#actions.get(transition) ?? []) {
      const given = { context, event };
      if (action.type === 'xstate.assign') context = assigned(given, action.assignment);
      else emit(madeOf(given, action.event) as never);
    }
    return this.at(transition.target?.[0]?.key ?? (snapshot.value as string), context);
  }
}

const plainMachines = new WeakMap<AnyStateMachine, PlainMachine | null>();

function plainOf(machine: AnyStateMachine): PlainMachine | null {
  let plain = plainMachines.get(machine);
  if (plain === undefined) {
    plain = PlainMachine.of(machine);
    plainMachines.set(machine, plain);
  }
  return plain;
}

/** XState's types of a machine that is not known say nothing of its events but that they have a type. */
function madeStep(event: unknown, context: unknown, from: string, to: string, effects: unknown): MadeStep {
  return { atMs: Date.now(), event: event as MadeStep['event'], context, from, to, effects: effects as MadeStep['effects'] };
}

class MachineStepper<Machine extends AnyStateMachine> implements Stepper<Machine> {
  readonly #machine: Machine;
  readonly #plain: PlainMachine | null;
  #snapshot: AnyMachineSnapshot;
  #path: string;
  #effects: EmittedFrom<Machine>[] = [];
  #made: MadeStep[] = [];
  #input: unknown;
  readonly #emit = (effect: EmittedFrom<Machine>): void => {
    this.#effects.push(effect);
  };

  constructor(machine: Machine, { stored, input }: Beginning) {
    this.#machine = machine;
    this.#plain = plainOf(machine);
    this.#input = input;
    this.#snapshot =
      stored === undefined
        ? firstSnapshot(machine, input)
        : machine.resolveState({ value: restoredValue(stored), context: stored.context });
    if (this.#snapshot.status === 'error') throw this.#snapshot.error;
    this.#path = statePath(this.#snapshot.value);
  }

  get snapshot(): SnapshotFrom<Machine> {
    return this.#snapshot as SnapshotFrom<Machine>;
  }

  get state(): string {
    return this.#path;
  }

  send(event: EventFromLogic<Machine>): Step<Machine> {
    this.#effects = [];
    // A machine that is done hears nothing.
    if (this.#snapshot.status === 'active') {
      const [before, from] = [this.#snapshot, this.#path];
      this.#snapshot =
        this.#plain === null
          ? this.#machine.transition(before, event, scopeOf(this.#machine, this.#emit))
          : this.#plain.transition(before, event, this.#emit);
      this.#path = statePath(this.#snapshot.value);
      this.#made.push(madeStep(event, before.context, from, this.#path, this.#effects));
    }
    return { snapshot: this.snapshot, state: this.#path, effects: this.#effects };
  }

  takeSteps(): TakenSteps {
    const taken = this.#input === undefined ? { made: this.#made } : { input: this.#input, made: this.#made };
    this.#made = [];
    this.#input = undefined;
    return taken;
  }
}

interface Beginning {
  readonly stored?: Stored;
  readonly input?: unknown;
}

/**
 * Starts a machine fresh, or from where it was stored. Machines here have no invokes and no delays, so restoring one
 * runs nothing (XState would re-run invokes and forget delays). The machine's logic is called without an actor of its own, which would cost
 * a turn more than its transitions do.
 */
export function stepper<Machine extends AnyStateMachine>(machine: Machine, from: Beginning = {}): Stepper<Machine> {
  return new MachineStepper(machine, from);
}
