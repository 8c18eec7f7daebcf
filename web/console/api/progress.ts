/** How much is being loaded; the bar at the top of the page shows that it is more than nothing. */
import { createStore } from '@xstate/store';

interface ProgressContext {
  readonly underWay: number;
}

const IDLE: ProgressContext = { underWay: 0 };

export const progress = createStore({
  context: IDLE,
  on: {
    began: (now): ProgressContext => ({ underWay: now.underWay + 1 }),
    ended: (now): ProgressContext => ({ underWay: Math.max(now.underWay - 1, 0) }),
  },
});
