/**
 * What would become of an event in a state, and why: the transitions that it has there in the order in which they are tried, what each
 * guard says, and which values it looked at to say so. The machine itself answers; nothing is written down twice. Changes nothing.
 */
import { type AnyMachineSnapshot, type AnyStateMachine, type AnyTransitionDefinition, getNextTransitions, type StateValue } from 'xstate';
import { evaluateGuard } from 'xstate/guards';
import { stepper } from '../step.ts';
import type { SampleEvent } from './samples.ts';

export interface Moment {
  /** As in `Step`. */
  readonly state: string;
  readonly value: StateValue;
  readonly context: object;
}

/** A value that a guard looked at: `context.round`, `event.waiting.reads`. Undefined: it is not there. */
export interface Reading {
  readonly path: string;
  readonly value: unknown;
}

export interface Question {
  readonly guard: string;
  readonly answer: boolean;
  readonly readings: readonly Reading[];
}

/** The guards that were asked in one region, in order; a machine without regions has one, named ''. */
export interface Asked {
  readonly region: string;
  readonly questions: readonly Question[];
  /** The transition that is taken; absent: none is. */
  readonly taken?: { readonly from: string; readonly to?: string };
}

/**
 * It moves to another state; it stays, doing something; it is refused by name, by the machine or by whoever steps it; every guard said no;
 * nothing listens for the event in this state; its payload is none that the machine can take.
 */
export type Outcome = 'moves' | 'stays' | 'refused' | 'guarded' | 'ignored' | 'broken';

export interface Verdict {
  readonly outcome: Outcome;
  readonly asked: readonly Asked[];
  readonly effects: readonly SampleEvent[];
  /** The code of a named refusal. */
  readonly refusal?: string;
  /** Where the machine is afterwards. */
  readonly after: Moment;
}

/** Where a fresh machine is. @throws Error when it cannot begin with this input. */
export function beginning(machine: AnyStateMachine, input: object | undefined): Moment {
  return momentOf(stepper(machine, input === undefined ? {} : { input }));
}

function momentOf({ snapshot, state }: { readonly snapshot: AnyMachineSnapshot; readonly state: string }): Moment {
  return { state, value: snapshot.value, context: snapshot.context };
}

/** Where the event leads from this moment, for whoever need not know why. @throws whatever a guard does with a payload of another shape. */
export function moved(machine: AnyStateMachine, at: Moment, event: SampleEvent): Moment {
  const running = stepper(machine, { stored: { state: at.value, context: at.context } });
  running.send(event as never);
  return momentOf(running);
}

export function judge(machine: AnyStateMachine, at: Moment, event: SampleEvent): Verdict {
  const running = stepper(machine, { stored: { state: at.value, context: at.context } });
  try {
    const candidates = getNextTransitions(running.snapshot).filter((transition) => transition.eventType === event.type);
    const asked = askAll(candidates, running.snapshot, event);
    const refused = refusedBySteppers(running.snapshot, event);
    const effects = running.send(event as never).effects as readonly SampleEvent[];
    const after = momentOf(running);
    const refusal = effects.flatMap((effect) => (effect.type === 'refuse' && 'code' in effect ? String(effect.code) : []))[0] ?? refused;
    const outcome = outcomeOf(candidates.length, asked, refusal !== undefined);
    return { outcome, asked, effects, after, ...(outcome === 'refused' && refusal !== undefined ? { refusal } : {}) };
  } catch {
    // A payload of another shape than the samples': the form allows whatever fits them, and a guard may still stumble.
    return { outcome: 'broken', asked: [], effects: [], after: at };
  }
}

function outcomeOf(candidates: number, asked: readonly Asked[], refuses: boolean): Outcome {
  if (candidates === 0) return refuses ? 'refused' : 'ignored';
  const taken = asked.flatMap((region) => region.taken ?? []);
  if (taken.length === 0) return 'guarded';
  if (taken.some(({ to }) => to !== undefined)) return 'moves';
  return refuses ? 'refused' : 'stays';
}

/** The code with which whoever steps the machine refuses an event that it ignores: what states say in `meta.refused`. */
function refusedBySteppers(snapshot: AnyMachineSnapshot, { type }: SampleEvent): string | undefined {
  for (const meta of Object.values(
    snapshot.getMeta() as Readonly<Record<string, { readonly refused?: Readonly<Record<string, string>> } | undefined>>,
  )) {
    const code = meta?.refused?.[type];
    if (code !== undefined) return code;
  }
  return undefined;
}

/** The regions in order; within each, transitions are asked until one may be taken, the inner state's first. */
function askAll(candidates: readonly AnyTransitionDefinition[], snapshot: AnyMachineSnapshot, event: SampleEvent): Asked[] {
  const isParallel = snapshot.machine.root.type === 'parallel';
  const witness = new Witness(snapshot, event);
  const regions = new Map<string, AnyTransitionDefinition[]>();
  for (const candidate of candidates) {
    const region = isParallel ? (candidate.source.path[0] ?? '') : '';
    regions.set(region, [...(regions.get(region) ?? []), candidate]);
  }
  return [...regions].map(([region, transitions]) => askInOrder(region, transitions, witness));
}

function askInOrder(region: string, transitions: readonly AnyTransitionDefinition[], witness: Witness): Asked {
  const questions: Question[] = [];
  for (const { guard, source, target } of transitions) {
    const question = guard === undefined ? undefined : witness.ask(guard as GuardOf);
    if (question !== undefined) questions.push(question);
    if (question?.answer === false) continue;
    const [first] = target ?? [];
    const to = first === undefined ? {} : { to: first.path.join('.') };
    return { region, questions, taken: { from: source.path.join('.'), ...to } };
  }
  return { region, questions };
}

/** As machines here write them: by name, with parameters or without. */
type GuardOf = string | { readonly type: string; readonly params?: unknown };

/** Asks guards about one event and sees what they look at. */
class Witness {
  readonly #snapshot: AnyMachineSnapshot;
  readonly #context: unknown;
  readonly #event: unknown;
  #readings = new Map<string, unknown>();

  constructor(snapshot: AnyMachineSnapshot, event: SampleEvent) {
    this.#snapshot = snapshot;
    // Copies: what is watched must not be frozen.
    this.#context = this.#watched(structuredClone(snapshot.context), 'context');
    this.#event = this.#watched(structuredClone(event), 'event');
  }

  ask(guard: GuardOf): Question {
    this.#readings = new Map();
    const answer = evaluateGuard(guard as never, this.#context as never, this.#event as never, this.#snapshot);
    const readings = [...this.#readings].map(([path, value]) => ({ path, value }));
    return { guard: typeof guard === 'string' ? guard : guard.type, answer, readings };
  }

  /** The same value; each plain value that is read in it is noted, and each field that is looked for in vain. */
  #watched(value: unknown, path: string): unknown {
    if (typeof value !== 'object' || value === null) {
      if (path !== 'event.type') this.#readings.set(path, value);
      return value;
    }
    return new Proxy(value, {
      get: (target, key) => {
        const found: unknown = Reflect.get(target, key);
        return typeof key === 'string' ? this.#watched(found, `${path}.${key}`) : found;
      },
      has: (target, key) => {
        const isThere = Reflect.has(target, key);
        if (!isThere) this.#readings.set(`${path}.${String(key)}`, undefined);
        return isThere;
      },
    });
  }
}
