/** What a walk lights on a picture: where the machine is, and the transitions that led there. */
import type { WalkedWay } from '../../../machines/simulator/walk.ts';
import { type Highlights, type Move, TRAIL_MAX, withoutRegion } from './highlights.ts';

/** After the first `at` steps. The picture of a machine with regions draws the one that is shown; `region` is '' for any other machine. */
export function highlightsOf(way: WalkedWay, at: number, active: ReadonlySet<string>, region: string): Highlights {
  const prefix = region === '' ? '' : `${region}.`;
  const own = (state: string) => (region === '' ? state : withoutRegion(state));
  const trail = way.steps
    .slice(0, at)
    .flatMap(({ event, verdict }): Move[] => {
      const asked = verdict.asked.find((one) => one.region === region);
      const taken = asked?.taken;
      if (asked === undefined || taken === undefined) return [];
      const last = asked.questions.at(-1);
      const to = taken.to === undefined ? {} : { to: own(taken.to) };
      return [{ event: event.type, from: own(taken.from), ...to, ...(last?.answer === true ? { guard: last.guard } : {}) }];
    })
    .slice(-TRAIL_MAX)
    .reverse();
  const inside = [...active].filter((state) => state.startsWith(prefix)).map(own);
  return { active: new Set(inside), trail };
}
