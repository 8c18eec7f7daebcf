/** The line at the bottom: the time that is left, and Stop. */
import { useState } from 'preact/hooks';
import type { SetupSession } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { timeLeft, useNow } from '../parts/clock-hook.ts';

export function SessionFoot({ session }: { readonly session: SetupSession }) {
  const left = Date.parse(session.expires_at) - useNow();
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  const stop = () => act.run(() => ask('POST', `/sessions/${encodeURIComponent(session.id)}/stop`));
  return (
    <div class="session-foot">
      <p class="row">
        <span class="hint" role="timer">
          {left > 0 ? `${timeLeft(left)} left` : 'Its day is over'}
        </span>
        {isAsked ? (
          <>
            <span>The agent cannot go on after that. What it wrote stays.</span>
            <button type="button" class="button danger" disabled={act.isUnderWay} onClick={stop}>
              Stop the session
            </button>
            <button type="button" class="button" onClick={() => setAsked(false)}>
              Let it go on
            </button>
          </>
        ) : (
          <button type="button" class="button" onClick={() => setAsked(true)}>
            Stop
          </button>
        )}
      </p>
      <Problem error={act.error} retry={stop} />
    </div>
  );
}
