/** The trace of a turn with its calls, or of another instance: replayed, and followed while it goes on. */

import { useRoute } from 'preact-iso';
import { Problem } from '../parts/card.tsx';
import { Page } from '../shell/page.tsx';
import { useLiveTraces } from './live-hook.ts';
import { TraceView } from './trace-view.tsx';
import type { Trace } from './traces.ts';

const CRUMBS = [{ label: 'Traces', href: '/console/traces' }];
const TITLES: Readonly<Record<string, string>> = {
  'chat-turn': 'A turn, step by step',
  'setup-session': 'A setup session, step by step',
  'step-panel': 'A panel, step by step',
  'knowledge-source': 'A source, step by step',
  pairing: 'A pairing, step by step',
  'app-lifecycle': 'An app, step by step',
};

/** What names the trace, without what the page itself keeps in the address. */
function queryOf(query: Readonly<Record<string, string>>): string {
  const named = ['turn_id', 'request_id', 'conversation_id', 'machine', 'instance'].flatMap((name) =>
    query[name] === undefined ? [] : [[name, query[name]]],
  );
  return new URLSearchParams(named as [string, string][]).toString();
}

export function TracePage() {
  const { params, query } = useRoute();
  const { traces, error, isLive, reload } = useLiveTraces(params.app ?? '', queryOf(query));
  const first = traces?.[0];
  const title =
    query.conversation_id !== undefined ? 'A conversation, step by step' : (TITLES[first?.machine ?? ''] ?? 'A trace, step by step');
  return (
    <Page fills title={title} crumbs={CRUMBS} facts={first === undefined ? undefined : <Facts trace={first} isLive={isLive} />}>
      <Problem error={error} retry={reload} />
      {traces !== undefined && traces.length > 0 && <TraceView traces={traces} />}
    </Page>
  );
}

function Facts({ trace, isLive }: { readonly trace: Trace; readonly isLive: boolean }) {
  return (
    <>
      <span class={isLive ? 'chip is-ok' : 'chip'}>{isLive ? 'following' : 'not following'}</span>
      {trace.requestId !== null && (
        <span>
          Request <code class="selectable">{trace.requestId}</code>
        </span>
      )}
      <span>
        Version <code>{trace.version}</code>
      </span>
      <span>Nothing is run again: effects are told, and none is performed.</span>
    </>
  );
}
