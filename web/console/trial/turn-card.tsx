/** Where the time of one turn went: its steps with those of its calls, from the first on, as they are committed. */

import { useEffect } from 'preact/hooks';
import { appPath } from '../app/app.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { CopiedId, CopyButton } from '../parts/copy-button.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { useLiveTraces } from '../traces/live-hook.ts';
import { type Scale, scaleOf, spansOf } from '../traces/spans.ts';
import { type Scene, storyOf, wayWords } from '../traces/traces.ts';
import { TurnFacts } from '../traces/turn-facts.tsx';
import { Waterfall } from '../traces/waterfall.tsx';

/** The first step of a turn is committed some milliseconds after it was sent; until then there is no trace of it. */
const LOOK_AGAIN_MS = 400;

export function TurnCard({ app, turnId }: { readonly app: string; readonly turnId: string }) {
  const query = `turn_id=${encodeURIComponent(turnId)}`;
  const { traces, error, isLive, isOver: goesOnNoMore, reload } = useLiveTraces(app, query);
  const isAhead = traces === undefined && error?.status === 404;
  useEffect(() => {
    if (!isAhead) return undefined;
    const timer = setTimeout(reload, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [error]);
  const story = storyOf(traces ?? []);
  const own = traces?.find(({ machine }) => machine === 'chat-turn');
  const spans = spansOf(traces ?? []);
  const scale = scaleOf(spans, story);
  const isOver = own?.steps.at(-1)?.effects.some(({ type }) => type === 'endTurn') === true;
  const requestId = traces?.[0]?.requestId;
  const command = `curl "${location.origin}/console/api${appPath(app)}/traces?${query}" -H "Authorization: Bearer $OPERATOR_TOKEN"`;
  return (
    <Card title="Where the time went" aside={<StateChip state={goesOnNoMore ? 'over' : isLive ? 'following' : 'not_following'} />}>
      {error !== undefined && !isAhead && <Problem error={error} retry={reload} />}
      {isAhead && <p class="card-empty">The turn is on its way.</p>}
      {story.length > 0 && (
        <>
          {spans.length > 0 && <Waterfall spans={spans} scale={scale} label="Where the time of the turn went" />}
          <TurnSteps story={story} scale={scale} />
          <div class="trial-foot">
            {requestId != null && (
              <p>
                Request <CopiedId id={requestId} />
              </p>
            )}
            {isOver && <TurnFacts app={app} turnId={turnId} />}
            <div class="row">
              <CopyButton text={command} label="Copy the steps as curl" />
              <Button label="Step through it" look="primary" href={`/console/traces/${encodeURIComponent(app)}?${query}`} />
            </div>
          </div>
        </>
      )}
    </Card>
  );
}

function TurnSteps({ story, scale }: { readonly story: readonly Scene[]; readonly scale: Scale }) {
  return (
    <ol class="trial-steps" aria-label="Steps of the turn">
      {story.map(({ trace, step, index }, at) => (
        <li key={`${trace.instance} ${index}`} class="trial-step">
          <span class="scene-number">{at + 1}</span>
          <code>{step.event.type}</code>
          <span class="trial-state">{wayWords(step)}</span>
          <span class="scene-time">{scale.clockOf(step.atMs)}</span>
        </li>
      ))}
    </ol>
  );
}
