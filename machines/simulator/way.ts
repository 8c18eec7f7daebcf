/** The shortest way to a state: which samples to send, one after the other. Looks through the machine itself, breadth first. */
import type { SampleEvent } from './samples.ts';
import { beginning, type Moment, moved } from './verdict.ts';
import type { SimulatedMachine } from './walk.ts';

export interface Way {
  /** The machine has to begin anew with this input; absent: the way goes on from where it is. */
  readonly input?: number;
  readonly events: readonly SampleEvent[];
}

/**
 * The shortest way to `state`, a dotted path: from this moment; where none leads there, from the start, with the present input before others.
 * In a machine with regions the state is named with its region. Undefined: no samples lead there.
 */
export function wayTo(simulated: SimulatedMachine, now: Moment, input: number, state: string): Way | undefined {
  const onward = search(simulated, now, state);
  if (onward !== undefined) return { events: onward };
  const { machine, samples } = simulated;
  const others = samples.inputs.map((_, index) => index).filter((index) => index !== input);
  for (const index of [input, ...others]) {
    const events = search(simulated, beginning(machine, samples.inputs[index]), state);
    if (events !== undefined) return { input: index, events };
  }
  return undefined;
}

/**
 * States are told apart by name and not by context: that keeps the search small, and every state of ours is found so. Of a machine with
 * regions only the one that the state lies in is looked at: all of them together have billions of states.
 */
function search({ machine, samples }: SimulatedMachine, from: Moment, state: string): readonly SampleEvent[] | undefined {
  const region = machine.root.type === 'parallel' ? state.slice(0, state.indexOf('.')) : undefined;
  const nameOf = ({ state: path, value }: Moment) =>
    region === undefined ? path : `${region}.${String((value as Readonly<Record<string, unknown>>)[region])}`;
  const events = Object.values(samples.events).flat();
  const seen = new Set([nameOf(from)]);
  let frontier: { readonly at: Moment; readonly way: readonly SampleEvent[] }[] = [{ at: from, way: [] }];
  if (nameOf(from) === state) return [];
  while (frontier.length > 0) {
    const next: typeof frontier = [];
    for (const { at, way } of frontier) {
      for (const event of events) {
        const after = moved(machine, at, event);
        const name = nameOf(after);
        if (seen.has(name)) continue;
        seen.add(name);
        const longer = [...way, event];
        if (name === state) return longer;
        next.push({ at: after, way: longer });
      }
    }
    frontier = next;
  }
  return undefined;
}
