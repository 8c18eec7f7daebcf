/**
 * Sends the request of an HTTP action (CALL-4). Invariant: a call opens one connection and writes one request on it; nothing is sent again.
 * A request that may have arrived is never reported as failed: it is unknown unless the endpoint gave a definite answer.
 */
import type { AddressGuard } from '../http/address-guard.ts';
import { failureSentence, readAnswer } from '../http/http-answer.ts';
import { Client, type Connector } from '../http/undici.ts';
import type { ActionRequest } from './request.ts';

/** `reason` is a sentence for the model; it holds no address, no credential and nothing of the request. */
export type CallOutcome =
  | { readonly kind: 'ok'; readonly status: number; readonly body: string }
  /** Nothing was sent, or the endpoint answered with a status of 300 and above, and then `answer` is there. */
  | { readonly kind: 'failed'; readonly reason: string; readonly answer?: { readonly status: number; readonly body: string } }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface CallOptions {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export type HttpActionCaller = ReturnType<typeof createHttpActionCaller>;

interface Progress {
  connected: boolean;
  status: number | undefined;
}

/** Why a call was ended from this side, as a sentence. */
class CallEnded extends Error {}

const STOPPED = 'The call was stopped before the endpoint answered.';

const UNASKED_ENCODING = 'The endpoint compresses its answer in a way that was not asked for.';

function sentenceOf(error: unknown): string {
  return error instanceof CallEnded ? error.message : failureSentence(error, 'endpoint', 'The answer of the endpoint');
}

/** Opens one connection only: undici would open another for a request that it thinks was not written yet. */
function connectOnce(guard: AddressGuard, progress: Progress): Connector {
  let asked = false;
  return (options, callback) => {
    if (asked) {
      callback(new Error('A call has one connection.'), null);
      return;
    }
    asked = true;
    guard.connect(options, (...opened) => {
      if (opened[0] === null) progress.connected = true;
      callback(...opened);
    });
  };
}

function schemeRefused({ protocol, hostname }: URL, guard: AddressGuard): string | undefined {
  if (protocol === 'https:' || (protocol === 'http:' && guard.isLocal(hostname))) return undefined;
  return 'The address of the action is not an https address.';
}

function answered(status: number, body: string): CallOutcome {
  if (status < 300) return { kind: 'ok', status, body };
  if (status >= 400) return { kind: 'failed', reason: `The endpoint answered with status ${status}.`, answer: { status, body } };
  // The redirect's target is not revealed.
  const reason = `The endpoint answered with a redirect (status ${status}); redirects are not followed.`;
  return { kind: 'failed', reason, answer: { status, body: '' } };
}

function brokenOff(error: unknown, { connected, status }: Progress): CallOutcome {
  if (status !== undefined && status >= 300) return answered(status, '');
  const sentence = sentenceOf(error);
  if (!connected) return { kind: 'failed', reason: sentence };
  return { kind: 'unknown', reason: `${sentence} Whether the action was carried out is not known.` };
}

async function exchange(guard: AddressGuard, request: ActionRequest, maxBytes: number, signal: AbortSignal): Promise<CallOutcome> {
  const { url, method, headers } = request;
  const progress: Progress = { connected: false, status: undefined };
  const client = new Client(url.origin, { connect: connectOnce(guard, progress), headersTimeout: 0, bodyTimeout: 0 });
  // Not the request's own signal: that is not heard before there is a connection.
  const end = () => void client.destroy(signal.reason as Error).catch(() => {});
  signal.addEventListener('abort', end, { once: true });
  try {
    const path = `${url.pathname}${url.search}`;
    // `reset` tells the endpoint that nothing follows on this connection.
    const answer = await client.request({ method, path, headers, body: request.body ?? null, reset: true });
    // The connection is destroyed while a body may still be on its way: that is not an error to anybody.
    answer.body.on('error', () => {});
    progress.status = answer.statusCode;
    const tooLong = `The answer of the endpoint is larger than ${Math.floor(maxBytes / 1024)} KB.`;
    const body = await readAnswer(answer, maxBytes, { tooLong, encoding: UNASKED_ENCODING });
    // UTF-8, without a byte order mark.
    return answered(answer.statusCode, new TextDecoder().decode(body));
  } catch (error) {
    return brokenOff(signal.aborted ? signal.reason : error, progress);
  } finally {
    signal.removeEventListener('abort', end);
    void client.destroy().catch(() => {});
  }
}

/** A caller for a whole process. `guard` says which addresses are connected to, and where http is fine (CALL-5). */
export function createHttpActionCaller({ guard }: { readonly guard: AddressGuard }) {
  const calls = new Map<AbortController, Promise<CallOutcome>>();
  let closed = false;

  const perform = async (request: ActionRequest, { timeoutMs, maxBytes, signal }: CallOptions, ended: AbortController) => {
    const stop = () => ended.abort(new CallEnded(STOPPED));
    const late = new CallEnded(`The endpoint did not answer completely within ${Math.ceil(timeoutMs / 1_000)} seconds.`);
    const timer = setTimeout(() => ended.abort(late), timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await exchange(guard, request, maxBytes, ended.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  };

  return {
    /** Never rejects for what an endpoint, a network or a stop does. */
    async call(request: ActionRequest, options: CallOptions): Promise<CallOutcome> {
      const refused = schemeRefused(request.url, guard);
      if (refused !== undefined) return { kind: 'failed', reason: refused };
      if (closed || options.signal?.aborted === true) return { kind: 'failed', reason: STOPPED };
      const ended = new AbortController();
      const call = perform(request, options, ended);
      calls.set(ended, call);
      try {
        return await call;
      } finally {
        calls.delete(ended);
      }
    },
    /** Ends the calls under way, and resolves once each has its outcome. Later calls fail. */
    async close(): Promise<void> {
      closed = true;
      for (const ended of calls.keys()) ended.abort(new CallEnded(STOPPED));
      await Promise.allSettled(calls.values());
    },
  };
}
