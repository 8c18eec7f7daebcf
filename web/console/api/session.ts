/** Who is signed in: by a cookie that scripts cannot read, so it is asked for. Owns the CSRF token, and what happens when a session ends. */
import { createStore } from '@xstate/store';
import { ApiError, request } from './request.ts';

/** `asking` until the first answer; `ended` while the page goes on showing what it has, and waits for the person to sign in again. */
type SessionPhase = 'asking' | 'away' | 'out' | 'in' | 'ended';

interface SessionContext {
  readonly phase: SessionPhase;
  readonly csrfToken: string;
}

const BEGINNING: SessionContext = { phase: 'asking', csrfToken: '' };

export const session = createStore({
  context: BEGINNING,
  on: {
    opened: (_, { csrfToken }: { csrfToken: string }): SessionContext => ({ phase: 'in', csrfToken }),
    /** Nobody was signed in when the page was loaded, or they signed out. */
    missing: (): SessionContext => ({ phase: 'out', csrfToken: '' }),
    unanswered: (now): SessionContext => (now.phase === 'asking' ? { ...now, phase: 'away' } : now),
    ended: (now): SessionContext => (now.phase === 'in' ? { phase: 'ended', csrfToken: '' } : now),
  },
});

export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Asks the service who this is. @throws ApiError when it does not answer that. */
export async function resumeSession(): Promise<void> {
  try {
    const answer = (await request('GET', '/session')) as { readonly session: { readonly csrf_token: string } | null };
    if (answer.session === null) session.send({ type: 'missing' });
    else session.send({ type: 'opened', csrfToken: answer.session.csrf_token });
  } catch (error) {
    if (isSignedOut(error)) {
      if (session.get().context.phase === 'in') session.send({ type: 'ended' });
      else if (session.get().context.phase !== 'ended') session.send({ type: 'missing' });
      return;
    }
    session.send({ type: 'unanswered' });
    throw error;
  }
}

/** The code of a one-time link; undefined when the text is none. */
function linkCodeOf(text: string): string | undefined {
  if (!URL.canParse(text, location.origin) || !text.includes('once=')) return undefined;
  return new URL(text, location.origin).searchParams.get('once') ?? undefined;
}

/** Signs in with the operator token or a one-time link. @throws ApiError with what was wrong with it. */
export async function signIn(secret: string): Promise<void> {
  const code = linkCodeOf(secret);
  if (code === undefined) {
    const answer = (await request('POST', '/login', { body: { token: secret } })) as { readonly csrf_token: string };
    session.send({ type: 'opened', csrfToken: answer.csrf_token });
    return;
  }
  // The answer sends elsewhere, which a script may not read; the cookie that it sets counts all the same.
  await fetch(`/console?once=${encodeURIComponent(code)}`, { redirect: 'manual', cache: 'no-store' }).catch(() => undefined);
  await resumeSession();
  if (session.get().context.phase !== 'in') {
    throw new ApiError('invalid_token', 'This link was used already, or is older than 15 minutes. Take the operator token.', 401);
  }
}

/** @throws ApiError */
export async function signOut(): Promise<void> {
  try {
    await request('POST', '/logout', { csrfToken: session.get().context.csrfToken });
  } catch (error) {
    if (!isSignedOut(error)) throw error;
  }
  session.send({ type: 'missing' });
}

export function whenSignedIn(): Promise<void> {
  if (session.get().context.phase === 'in') return Promise.resolve();
  return new Promise((resolve) => {
    const subscription = session.subscribe(({ context }) => {
      if (context.phase !== 'in') return;
      subscription.unsubscribe();
      resolve();
    });
  });
}
