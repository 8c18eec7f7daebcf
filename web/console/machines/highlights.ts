/** What of a picture is lit. The same for a machine that is stepped by hand, watched or replayed. */
import type { WalkedWay } from '../../../machines/simulator/walk.ts';

/** Where a machine is, as XState says it: a name, or one for each state inside. */
type StateValue = string | { readonly [state: string]: StateValue | undefined };

/** A transition that was taken, by the states as the picture names them; without `to` it stayed. */
export interface Move {
  readonly from: string;
  readonly to?: string;
  readonly event: string;
  readonly guard?: string;
  /** The number of its step, from 1 on. */
  readonly at: number;
}

export interface Highlights {
  readonly active: ReadonlySet<string>;
  /** What was taken, the newest first. */
  readonly trail: readonly Move[];
}

export function isLabelOf({ event, guard }: { readonly event: string; readonly guard?: string }, move: Move | undefined): boolean {
  if (move === undefined || move.event !== event) return false;
  return guard === move.guard || (guard === 'otherwise' && move.guard === undefined);
}

/** The innermost states of a value: `pending.clean`, or one for each region, `waiting.done`. */
export function activeStates(value: StateValue, prefix = ''): string[] {
  if (typeof value === 'string') return [prefix + value];
  return Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : activeStates(inner, `${prefix}${key}.`)));
}

/** The innermost states of a state as a trace writes it, with regions as JSON. Whatever a file holds instead is one name. */
export function activeOf(path: string): string[] {
  if (!path.startsWith('{')) return [path];
  try {
    return activeStates(JSON.parse(path));
  } catch {
    return [path];
  }
}

function withoutRegion(state: string): string {
  return state.slice(state.indexOf('.') + 1);
}

/** The region that the last of the first `at` steps changed, before one that stayed; '' where none did. */
export function changedRegion(way: WalkedWay, at: number): string {
  const regions = way.steps[at - 1]?.verdict.asked.filter(({ taken }) => taken !== undefined) ?? [];
  return (regions.findLast(({ taken }) => taken?.to !== undefined) ?? regions.at(-1))?.region ?? '';
}

/** After the first `at` steps. The picture of a machine with regions draws the one that is shown; `region` is '' for any other machine. */
export function highlightsOf(way: WalkedWay, at: number, active: ReadonlySet<string>, region: string): Highlights {
  const prefix = region === '' ? '' : `${region}.`;
  const own = (state: string) => (region === '' ? state : withoutRegion(state));
  const trail = way.steps
    .slice(0, at)
    .flatMap(({ event, verdict }, index): Move[] => {
      const asked = verdict.asked.find((one) => one.region === region);
      const taken = asked?.taken;
      if (asked === undefined || taken === undefined) return [];
      const last = asked.questions.at(-1);
      const to = taken.to === undefined ? {} : { to: own(taken.to) };
      return [{ event: event.type, from: own(taken.from), ...to, ...(last?.answer === true ? { guard: last.guard } : {}), at: index + 1 }];
    })
    .reverse();
  const inside = [...active].filter((state) => state.startsWith(prefix)).map(own);
  return { active: new Set(inside), trail };
}
