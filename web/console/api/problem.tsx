/** An error in its place: what went wrong, what to do, and the id to look for in the log. */
import type { ApiError } from './request.ts';

export interface ProblemProps {
  readonly error: ApiError | undefined;
  /** Absent: there is nothing to try again. */
  readonly retry?: () => void;
}

export function Problem({ error, retry }: ProblemProps) {
  if (error === undefined) return null;
  return (
    <div class="problem" role="alert">
      <p class="problem-text">{error.message}</p>
      {error.details.length > 0 && (
        <ul class="problem-details">
          {error.details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <p class="problem-facts">
        <code>{error.code}</code>
        {error.requestId !== undefined && (
          <>
            {' · request '}
            <code class="selectable">{error.requestId}</code>
          </>
        )}
      </p>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
