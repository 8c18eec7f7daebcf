/** The interface as pages use it: signed, and repeated after a sign-in when the session had ended, so that nothing typed is lost. */
import { ApiError, type Method, type RequestOptions, request } from './request.ts';
import { isSignedOut, resumeSession, session, whenSignedIn } from './session.ts';

/** Another window signed in anew: the token of this one is not that of the cookie any more. */
function isOtherSession(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invalid_csrf';
}

/**
 * The answer to `method` `/console/api` + `path`. Waits for the person when the session has ended.
 * @throws ApiError with what the service said; the signal's reason when that aborts it.
 */
export function ask<Answer>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
  return askWith(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export function sendFile<Answer>(path: string, file: File): Promise<Answer> {
  const form = new FormData();
  form.append('file', file, file.name);
  return askWith('POST', path, { form });
}

async function askWith<Answer>(method: Method, path: string, what: Omit<RequestOptions, 'csrfToken'>): Promise<Answer> {
  let wasResumed = false;
  // Each further round needs a person, or happens once.
  for (;;) {
    try {
      const options = { ...what, csrfToken: session.get().context.csrfToken };
      return (await request(method, path, options)) as Answer;
    } catch (error) {
      if (isSignedOut(error)) session.send({ type: 'ended' });
      else if (isOtherSession(error) && !wasResumed) {
        wasResumed = true;
        await resumeSession();
      } else throw error;
      await whenSignedIn();
    }
  }
}
