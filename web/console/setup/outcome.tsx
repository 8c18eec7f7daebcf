/** How a session ended, and what the agent said at the end. */
import type { SetupSession } from '../../../protocol/console/setup-answers.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { textsOf } from './session.ts';

export function Outcome({ session }: { readonly session: SetupSession }) {
  if (session.closed_at === null) return null;
  const { summary, reason } = session.outcome ?? {};
  const files = textsOf(session.outcome?.files_changed);
  const text = typeof summary === 'string' ? summary : typeof reason === 'string' ? reason : undefined;
  return (
    <section class="card" aria-label="How it ended">
      <h2>
        How it ended <StateChip state={session.status} />
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
