/** Beside an answer: how its turn went, what was called with which result, and what people thought of it. */
import { useState } from 'preact/hooks';
import type { Call, Message } from '../../../protocol/console/answers.ts';
import type { KeptFailure } from '../../../protocol/runtime/states.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { momentOf } from '../parts/times.ts';
import { scaleOf, spansOf } from '../traces/spans.ts';
import { type TracesAnswer, tracesOf } from '../traces/traces.ts';
import { TurnFacts } from '../traces/turn-facts.tsx';
import { Waterfall } from '../traces/waterfall.tsx';
import { shortCause } from './conversation-table.tsx';

function errorWords(error: unknown): string {
  return typeof error === 'string' ? error : JSON.stringify(error);
}

function CallFacts({ call }: { readonly call: Call }) {
  return (
    <details class="call">
      <summary>
        <StateChip state={call.state} /> <code>{call.name}</code>
        {call.error !== null && <span class="call-error">{errorWords(call.error)}</span>}
      </summary>
      <dl class="call-facts">
        <dt>Risk</dt>
        <dd>
          {call.risk}, run by {call.executor === 'server' ? 'the service' : 'the app'}
        </dd>
        <dt>Asked</dt>
        <dd>{momentOf(call.requested_at)}</dd>
        {call.confirmed_at !== null && (
          <>
            <dt>Agreed</dt>
            <dd>{momentOf(call.confirmed_at)}, as this service recorded</dd>
          </>
        )}
        <dt>With</dt>
        <dd>
          <pre>{JSON.stringify(call.params, undefined, 1)}</pre>
        </dd>
        {call.result !== null && (
          <>
            <dt>Result</dt>
            <dd>
              <pre>{JSON.stringify(call.result, undefined, 1)}</pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** Read when somebody opens it: a page has up to 200 messages. */
function TurnTimes({ app, turnId }: { readonly app: App; readonly turnId: string }) {
  const [isOpen, open] = useState(false);
  const query = `turn_id=${encodeURIComponent(turnId)}`;
  return (
    <>
      <p>
        <a href={`/console/traces/${encodeURIComponent(app.id)}?${query}`}>Step by step</a>
      </p>
      <details class="call" onToggle={(event) => open(event.currentTarget.open)}>
        <summary>Time, cost and what the model sent</summary>
        {isOpen && (
          <>
            <TurnPhases app={app.id} query={query} />
            <TurnFacts app={app.id} turnId={turnId} linksBack={false} />
          </>
        )}
      </details>
    </>
  );
}

function TurnPhases({ app, query }: { readonly app: string; readonly query: string }) {
  const { answer, error } = useAsked<TracesAnswer>(`${appPath(app)}/traces?${query}`);
  if (error !== undefined) return <p class="hint">{error.status === 404 ? 'No steps are kept of this turn any more.' : error.message}</p>;
  const spans = answer === undefined ? [] : spansOf(tracesOf(answer));
  return spans.length === 0 ? null : <Waterfall spans={spans} scale={scaleOf(spans)} label="Where the time of the turn went" />;
}

/** Why; what the person saw of it stands in the thread. */
function Failure({ cause }: KeptFailure) {
  if (cause === undefined) return null;
  return (
    <dl class="call-facts">
      <dt>Why</dt>
      <dd class="fault">{shortCause(cause)}</dd>
      {cause.detail !== undefined && (
        <>
          <dt>In its own words</dt>
          <dd>
            <code>{cause.detail}</code>
          </dd>
        </>
      )}
    </dl>
  );
}

export function MessageFacts({ app, message }: { readonly app: App; readonly message: Message }) {
  const { turn, invocations = [], feedback = [], ratings = [] } = message;
  return (
    <div class="message-facts">
      <p class="message-time">
        {momentOf(message.created_at)}
        {turn != null && (
          <>
            {' · '}
            <StateChip state={turn.state} />
            {' · '}
            {turn.model}
          </>
        )}
      </p>
      {turn?.failure != null && <Failure {...turn.failure} />}
      {turn != null && <TurnTimes app={app} turnId={turn.turn_id} />}
      {invocations.map((call) => (
        <CallFacts key={call.id} call={call} />
      ))}
      {feedback.map(({ rating, reason, updated_at: at }) => (
        <p key={at}>
          <StateChip state={rating === 1 ? 'helpful' : 'not_helpful'} /> {reason}
        </p>
      ))}
      {ratings.map(({ block_id: block, value, comment }) => (
        <p key={block}>
          <span class="chip is-accent">rated {value}</span> {comment}
        </p>
      ))}
    </div>
  );
}
