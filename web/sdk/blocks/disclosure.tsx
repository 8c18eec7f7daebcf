/** `disclosure`: details behind one line. */
import type { BlockProps } from './block-view.ts';
import { Icon } from './parts/icon.tsx';

export function Disclosure({ body: { summary, md, open = false }, around: { Prose } }: BlockProps<'disclosure'>) {
  return (
    <details class="card disclosure" open={open}>
      <summary class="head">
        <span>{summary}</span>
        <Icon name="down" class="is-turn" />
      </summary>
      <div class="inside">
        <Prose md={md} />
      </div>
    </details>
  );
}
