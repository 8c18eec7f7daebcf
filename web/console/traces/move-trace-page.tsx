/** The last move of an organisation away from the cell that answers, step by step, and read again while it goes on. */

import { useRoute } from 'preact-iso';
import { POLLED, useAsked } from '../api/asked-hook.ts';
import { Problem } from '../parts/card.tsx';
import { Page } from '../shell/page.tsx';
import { TraceView } from './trace-view.tsx';
import { type TracesAnswer, tracesOf } from './traces.ts';

const CRUMBS = [{ label: 'Nodes', href: '/console/nodes' }];

export function MoveTracePage() {
  const { params } = useRoute();
  const { answer, error, reload } = useAsked<TracesAnswer>(`/orgs/${encodeURIComponent(params.org ?? '')}/move/trace`, POLLED);
  const traces = answer === undefined ? undefined : tracesOf(answer);
  return (
    <Page
      fills
      title="A move, step by step"
      crumbs={CRUMBS}
      facts={traces?.[0] === undefined ? undefined : <Facts move={traces[0].instance} version={traces[0].version} />}
    >
      <Problem error={error} retry={reload} />
      {traces !== undefined && traces.length > 0 && <TraceView traces={traces} />}
    </Page>
  );
}

function Facts({ move, version }: { readonly move: string; readonly version: string }) {
  return (
    <>
      <span>
        Move <code class="selectable">{move}</code>
      </span>
      <span>
        Version <code>{version}</code>
      </span>
      <span>Nothing is run again: effects are told, and none is performed.</span>
    </>
  );
}
