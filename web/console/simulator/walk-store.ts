/** The walk on a page: what the machine began with, the events so far, and the step that is looked at. */
import { createStore } from '@xstate/store';
import type { SampleEvent } from '../../../machines/simulator/samples.ts';
import { WALK_EVENTS_MAX } from '../../../machines/simulator/walk.ts';
import type { LinkedWalk } from '../../../machines/simulator/walk-link.ts';
import type { Way } from '../../../machines/simulator/way.ts';

export const START: LinkedWalk = { input: 0, events: [], at: 0 };

/** The walk goes on with these events after the step that is looked at; what came after it is given up. */
function continued({ input, events, at }: LinkedWalk, further: readonly SampleEvent[]): LinkedWalk {
  const longer = [...events.slice(0, at), ...further];
  return longer.length > WALK_EVENTS_MAX ? { input, events, at } : { input, events: longer, at: longer.length };
}

export function createWalk(context: LinkedWalk) {
  return createStore({
    context,
    on: {
      sent: (now, { event }: { event: SampleEvent }): LinkedWalk => continued(now, [event]),
      took: (now, { way }: { way: Way }): LinkedWalk =>
        continued(way.input === undefined ? now : { ...START, input: way.input }, way.events),
      /** To a step, 0 for the start; one that there is not is the nearest that there is. */
      went: (now, { at }: { at: number }): LinkedWalk => ({ ...now, at: Math.min(Math.max(at, 0), now.events.length) }),
      began: (_, { input }: { input: number }): LinkedWalk => ({ ...START, input }),
    },
  });
}

export type WalkStore = ReturnType<typeof createWalk>;
