/**
 * Runs one machine of `machines/` purely: an event in, the next state and the emitted effects out. Nothing is
 * performed here; whoever stepped commits first and performs after (docs/architecture.md).
 */
import { type AnyStateMachine, createActor, type EmittedFrom, type EventFromLogic, type SnapshotFrom } from 'xstate';

export interface Step<Machine extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<Machine>;
  /** Dotted path of the state, e.g. `pending.clean`. */
  readonly state: string;
  readonly effects: readonly EmittedFrom<Machine>[];
}

/** `{ pending: 'clean' }` → `pending.clean`. Our machines have no parallel states. */
export function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[parent, child] = ['', '']] = Object.entries(value as Record<string, unknown>);
  return `${parent}.${statePath(child)}`;
}

/** `pending.clean` → `{ pending: 'clean' }`. */
export function stateValue(path: string): string | Record<string, string> {
  const dot = path.indexOf('.');
  return dot < 0 ? path : { [path.slice(0, dot)]: path.slice(dot + 1) };
}

/** A machine in some state, stepped by events. */
export interface Stepper<Machine extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<Machine>;
  readonly state: string;
  send(event: EventFromLogic<Machine>): Step<Machine>;
}

/**
 * Starts a machine fresh, or from where it was stored. Machines here have no invokes and no delays, so restoring one
 * runs nothing (XState would re-run invokes and forget delays).
 */
export function stepper<Machine extends AnyStateMachine>(
  machine: Machine,
  from: { readonly stored?: { readonly state: string; readonly context: object }; readonly input?: unknown } = {},
): Stepper<Machine> {
  const options =
    from.stored === undefined
      ? { input: from.input }
      : { snapshot: machine.resolveState({ value: stateValue(from.stored.state), context: from.stored.context }) };
  const actor = createActor(machine, options as never);
  let effects: EmittedFrom<Machine>[] = [];
  actor.on('*', (effect: unknown) => {
    effects.push(effect as EmittedFrom<Machine>);
  });
  actor.start();
  const snapshot = () => actor.getSnapshot() as SnapshotFrom<Machine>;
  const state = () => statePath((snapshot() as { value: unknown }).value);
  return {
    get snapshot() {
      return snapshot();
    },
    get state() {
      return state();
    },
    send(event) {
      effects = [];
      actor.send(event as never);
      return { snapshot: snapshot(), state: state(), effects };
    },
  };
}
