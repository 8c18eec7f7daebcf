/** A card of a page: its heading, what went wrong in it, and its buttons. */
import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/request.ts';

interface CardProps {
  readonly title: ComponentChildren;
  /** Its name where it is not the title. */
  readonly label?: string;
  /** Small, behind the title. */
  readonly note?: ComponentChildren;
  /** At the end of the heading. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, label = String(title), note, aside, children }: CardProps) {
  return (
    <section class="card" aria-label={label}>
      <h2>
        {title}
        {note !== undefined && ' '}
        {note !== undefined && <small>{note}</small>}
        {aside}
      </h2>
      {children}
    </section>
  );
}

interface ProblemProps {
  readonly error: ApiError | undefined;
  /** Absent: there is nothing to try again. */
  readonly retry?: () => void;
}

/** An error in its place: what went wrong, what to do, and the id to look for in the log. */
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
      {retry !== undefined && <Button label="Try again" onClick={retry} />}
    </div>
  );
}

interface ButtonProps {
  readonly label: ComponentChildren;
  readonly look?: 'primary' | 'danger' | 'bare' | '';
  /** Where it leads: then it is a link. */
  readonly href?: string;
  readonly disabled?: boolean;
  readonly onClick?: () => void;
}

export function Button({ label, look = '', href, ...rest }: ButtonProps) {
  const name = look === '' ? 'button' : `button ${look}`;
  if (href === undefined) {
    return (
      <button type="button" class={name} {...rest}>
        {label}
      </button>
    );
  }
  return (
    <a class={name} href={href}>
      {label}
    </a>
  );
}
