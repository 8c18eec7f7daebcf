/** Where the time of one turn went: its steps with those of its calls, from the first on, as they are committed. */

import { useEffect } from 'preact/hooks';
import { appPath } from '../app/app.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { useLiveTraces } from '../traces/live-hook.ts';
import { PhaseList } from '../traces/phase-list.tsx';
import { phasesOf } from '../traces/phases.ts';
import { sinceWords } from '../traces/scene-list.tsx';
import { edgesOfTime, type Scene, storyOf } from '../traces/traces.ts';
import { TurnFacts } from '../traces/turn-facts.tsx';

/** The first step of a turn is committed some milliseconds after it was sent; until then there is no trace of it. */
const LOOK_AGAIN_MS = 400;
const WIDTH = 1_000;

export function TurnCard({ app, turnId }: { readonly app: string; readonly turnId: string }) {
  const query = `turn_id=${encodeURIComponent(turnId)}`;
  const { traces, error, isLive, isOver: goesOnNoMore, reload } = useLiveTraces(app, query);
  const isFollowing = isLive && !goesOnNoMore;
  const isAhead = traces === undefined && error?.status === 404;
  useEffect(() => {
    if (!isAhead) return undefined;
    const timer = setTimeout(reload, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [error]);
  const story = storyOf(traces ?? []);
  const own = traces?.find(({ machine }) => machine === 'chat-turn');
  const phases = own === undefined ? [] : phasesOf(own);
  const isOver = own?.steps.at(-1)?.effects.some(({ type }) => type === 'endTurn') === true;
  const requestId = traces?.[0]?.requestId;
  const command = `curl "${location.origin}/console/api${appPath(app)}/traces?${query}" -H "Authorization: Bearer $OPERATOR_TOKEN"`;
  return (
    <Card
      title="Where the time went"
      aside={<span class={isFollowing ? 'chip is-ok' : 'chip'}>{goesOnNoMore ? 'over' : isLive ? 'following' : 'not following'}</span>}
    >
      {error !== undefined && !isAhead && <Problem error={error} retry={reload} />}
      {isAhead && <p class="card-empty">The turn is on its way.</p>}
      {story.length > 0 && (
        <>
          {phases.length > 0 && <PhaseList phases={phases} />}
          <TurnSteps story={story} />
          <div class="trial-foot">
            {isOver && <TurnFacts app={app} turnId={turnId} />}
            {requestId != null && (
              <p>
                Request <code class="selectable">{requestId}</code>
              </p>
            )}
            <div class="row">
              <Button label="Step through it" look="primary" href={`/console/traces/${encodeURIComponent(app)}?${query}`} />
              <CopyButton text={command} label="Copy the steps as curl" />
            </div>
          </div>
        </>
      )}
    </Card>
  );
}

function TurnSteps({ story }: { readonly story: readonly Scene[] }) {
  const firstMs = story[0]?.step.atMs ?? 0;
  const { places } = edgesOfTime(
    story.map(({ step }) => step.atMs),
    WIDTH,
  );
  return (
    <ol class="trial-steps" aria-label="Steps of the turn">
      {story.map(({ trace, step, index }, at) => (
        <li key={`${trace.instance} ${index}`} class="trial-step">
          <span class="trial-since">{sinceWords(step.atMs - firstMs)}</span>
          <code>{step.event.type}</code>
          <span class="trial-state">{step.from === step.to ? step.to : `${step.from} → ${step.to}`}</span>
          <svg class="trial-bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
            <rect
              x={places[at - 1] ?? 0}
              width={Math.max((places[at] ?? 0) - (places[at - 1] ?? 0), 4)}
              height="8"
              class={`span is-${kindOf(trace.machine, step.from)}`}
            />
          </svg>
        </li>
      ))}
    </ol>
  );
}

/** What the time before a step went to, as the colours of spans have it. */
function kindOf(machine: string, state: string): string {
  if (machine !== 'chat-turn') return 'call';
  if (state === 'answering') return 'model';
  if (state === 'new') return 'admit';
  return state.startsWith('awaiting') ? 'wait' : 'commit';
}
