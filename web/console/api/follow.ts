/**
 * Follows a stream of the interface for as long as a page shows it: opens it again when it breaks, after the last line that came, and waits for
 * the person when the session is over. A browser's EventSource gives up for good at the first answer that is no stream, such as that of a proxy
 * before a service that restarts.
 */
import { FrameDecoder } from '../../client/frames.ts';
import { ApiError, errorFrom } from './request.ts';
import { isSignedOut, session, whenSignedIn } from './session.ts';

export interface StreamFrame {
  readonly event: string;
  readonly data: unknown;
}

interface Follower {
  onFrame(frame: StreamFrame): void;
  /** Whether frames come now; false from a break until the stream is open again. */
  onLive(isLive: boolean): void;
  /** The service ended the stream: whether it is to be opened again after all. */
  isOver(): boolean;
  onRefused(error: ApiError): void;
}

/** How long after a break the stream is opened again: at first at once, then at a pace that a service which starts does not feel. */
const PAUSES_MS = [200, 500, 1_000, 2_000] as const;
/** The service pings every 15 seconds; silence for three of them is a broken line. */
const SILENCE_MAX_MS = 45_000;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const wake = () => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { signal: over.signal });
    addEventListener('online', wake, { signal: over.signal });
  });
}

/** Reads one connection to its end. @throws ApiError when the service refuses; whatever breaks it. */
async function readOnce(
  path: string,
  lastId: string,
  signal: AbortSignal,
  onOpen: () => void,
  onFrame: (frame: StreamFrame, id: string | undefined) => void,
) {
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const headers = new Headers({ Accept: 'text/event-stream' });
    if (lastId !== '') headers.set('Last-Event-ID', lastId);
    const answer = await fetch(`/console/api${path}`, { headers, signal: both, cache: 'no-store' });
    if (!answer.ok || answer.body === null) throw await errorFrom(answer);
    onOpen();
    const decoder = new FrameDecoder(({ id, event, data }) => onFrame({ event: event ?? 'message', data: JSON.parse(data) }, id));
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      if (!decoder.push(value)) throw new Error('a frame is too long');
    }
  } finally {
    clearTimeout(timer);
  }
}

/** What trying again would not change. */
function isFinal(error: unknown): error is ApiError {
  return error instanceof ApiError && [400, 403, 404, 410].includes(error.status);
}

export function follow(path: string, follower: Follower): () => void {
  const aborted = new AbortController();
  const { signal } = aborted;
  const run = async () => {
    let lastId = '';
    let fails = 0;
    const onOpen = () => {
      fails = 0;
      follower.onLive(true);
    };
    while (!signal.aborted) {
      try {
        await readOnce(path, lastId, signal, onOpen, (frame, id) => {
          if (signal.aborted) return;
          if (id !== undefined) lastId = id;
          follower.onFrame(frame);
        });
        if (signal.aborted || follower.isOver()) return;
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) {
          follower.onRefused(error);
          return;
        }
        follower.onLive(false);
        if (isSignedOut(error)) {
          session.send({ type: 'ended' });
          await whenSignedIn();
          continue;
        }
      }
      await pause(PAUSES_MS[Math.min(fails, PAUSES_MS.length - 1)] ?? 0, signal);
      fails += 1;
    }
  };
  void run();
  return () => aborted.abort();
}
