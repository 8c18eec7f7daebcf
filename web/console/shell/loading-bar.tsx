/** A thin bar at the top while something loads; what was there stays. */

import { useStore } from '../../sdk/store-hook.ts';
import { progress } from '../api/progress.ts';

export function LoadingBar() {
  const isLoading = useStore(progress, ({ underWay }) => underWay > 0);
  return <div class={isLoading ? 'loading-bar is-on' : 'loading-bar'} aria-hidden="true" />;
}
