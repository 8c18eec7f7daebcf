/** How a session ended, and what the agent said at the end. */
import type { SetupSession } from '../../../protocol/console/setup-answers.ts';
import { textsOf } from './session.ts';

const ENDINGS: Readonly<Record<SetupSession['status'], { readonly word: string; readonly signal: string }>> = {
  open: { word: 'waiting for your agent', signal: 'is-wait' },
  running: { word: 'at work', signal: 'is-accent' },
  completed: { word: 'completed', signal: 'is-ok' },
  failed: { word: 'given up by the agent', signal: 'is-bad' },
  cancelled: { word: 'stopped', signal: '' },
  expired: { word: 'expired', signal: '' },
};

export function StatusChip({ session }: { readonly session: SetupSession }) {
  const { word, signal } = ENDINGS[session.status];
  return <span class={`chip ${signal}`}>{word}</span>;
}

export function Outcome({ session }: { readonly session: SetupSession }) {
  if (session.closed_at === null) return null;
  const { summary, reason } = session.outcome ?? {};
  const files = textsOf(session.outcome?.files_changed);
  const text = typeof summary === 'string' ? summary : typeof reason === 'string' ? reason : undefined;
  return (
    <section class="card" aria-label="How it ended">
      <h2>
        How it ended <StatusChip session={session} />
      </h2>
      <div class="card-body">
        {text === undefined ? <p class="hint">The agent left no word. Its lines are beside this.</p> : <p class="setup-said">{text}</p>}
        {files.length > 0 && (
          <details>
            <summary>{files.length === 1 ? '1 file was changed' : `${files.length} files were changed`}</summary>
            <ul class="setup-files">
              {files.map((file) => (
                <li key={file}>
                  <code>{file}</code>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </section>
  );
}
