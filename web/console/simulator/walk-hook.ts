/** A walk that stands in the address: read from it once, written to it after every step, so that the address is always the link to share. */

import { createStore } from '@xstate/store';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import type { SampleEvent } from '../../../machines/simulator/samples.ts';
import { type SimulatedMachine, WALK_EVENTS_MAX } from '../../../machines/simulator/walk.ts';
import { DamagedLink, type LinkedWalk, walkFromText, walkToText } from '../../../machines/simulator/walk-link.ts';
import type { Way } from '../../../machines/simulator/way.ts';
import { useStore } from '../../sdk/store-hook.ts';
import { replaceAddress } from '../shell/address.ts';

const START: LinkedWalk = { input: 0, events: [], at: 0 };

/** The walk goes on with these events after the step that is looked at; what came after it is given up. */
function continued({ input, events, at }: LinkedWalk, further: readonly SampleEvent[]): LinkedWalk {
  const longer = [...events.slice(0, at), ...further];
  return longer.length > WALK_EVENTS_MAX ? { input, events, at } : { input, events: longer, at: longer.length };
}

function createWalk(context: LinkedWalk) {
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

const PARAMETER = 'steps';

function readAddress(simulated: SimulatedMachine): { readonly walk: LinkedWalk; readonly fault: string } {
  const text = new URLSearchParams(location.search).get(PARAMETER);
  if (text === null) return { walk: START, fault: '' };
  try {
    return { walk: walkFromText(simulated, text), fault: '' };
  } catch (error) {
    if (error instanceof DamagedLink) return { walk: START, fault: error.message };
    throw error;
  }
}

/** Replaces the entry of the history: going back leaves the page, and does not undo steps. */
function writeAddress(simulated: SimulatedMachine, walk: LinkedWalk): void {
  const isStart = walk.events.length === 0 && walk.input === 0;
  const text = isStart ? undefined : walkToText(simulated, walk);
  replaceAddress({ [PARAMETER]: text });
}

export function useWalk(simulated: SimulatedMachine) {
  const { store, fault } = useMemo(() => {
    const { walk, fault: wrong } = readAddress(simulated);
    return { store: createWalk(walk), fault: wrong };
  }, [simulated]);
  const walk = useStore(store, (context) => context);
  // With the picture, and not after it: who copies the address copies what is shown.
  useLayoutEffect(() => writeAddress(simulated, walk), [simulated, walk]);
  return { store, walk, fault: walk.events.length === 0 ? fault : '' };
}
