/**
 * Follows a stream of the interface for as long as a page shows it: opens it again when it breaks, after the last line that came, and waits for
 * the person when the session is over. A browser's EventSource gives up for good at the first answer that is no stream, such as that of a proxy
 * before a service that restarts.
 */
import { systemClock } from '../../client/platform/everywhere.ts';
import type { Fetch } from '../../client/surroundings.ts';
import { Pause } from '../../client/transport/pause.ts';
import { StreamConnection } from '../../client/transport/stream-connection.ts';
import { type ApiError, apiAddress, errorFrom } from './request.ts';
import { isSignedOut, session, whenSignedIn } from './session.ts';

export interface StreamFrame {
  readonly event: string;
  readonly data: unknown;
}

export interface Follower {
  onFrame(frame: StreamFrame): void;
  /** Whether frames come now; false from a break until the stream is open again. */
  onLive(isLive: boolean): void;
  /** The service ended the stream: whether it is to be opened again after all. */
  isOver(): boolean;
  /** What is followed is not there, or not to be had. */
  onRefused(error: ApiError): void;
}

/** How long after a break the stream is opened again: at first at once, then at a pace that a service which starts does not feel. */
const PAUSES_MS = [200, 500, 1_000, 2_000] as const;
/** The service pings every 15 seconds; silence for three of them is a broken line. */
const SILENCE_MAX_MS = 45_000;
/** What trying again would not change. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404, 410]);

/** Follows `path` of the interface from its beginning. Returns what ends it. */
export function follow(path: string, follower: Follower): () => void {
  const pause = new Pause(systemClock);
  const skip = () => pause.skip();
  let connection: StreamConnection | undefined;
  let [isClosed, lastId, fails] = [false, '', 0];
  const connect = async () => {
    let refused: ApiError | undefined;
    const open: Fetch = async (address, request) => {
      const answer = await fetch(address, { ...request, cache: 'no-store' });
      if (!answer.ok) refused = await errorFrom(answer.clone());
      else if (!isClosed) follower.onLive(true);
      if (answer.ok) fails = 0;
      return answer;
    };
    connection = new StreamConnection({ fetch: open, clock: systemClock, idleMs: SILENCE_MAX_MS });
    const headers = { Accept: 'text/event-stream', ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) };
    const ending = await connection.run(apiAddress(path), { method: 'GET', headers }, ({ id, event, data }) => {
      if (id !== undefined) lastId = id;
      follower.onFrame({ event: event ?? 'message', data: JSON.parse(data) });
    });
    return { isWhole: ending.kind === 'whole', refused };
  };
  const run = async () => {
    while (!isClosed) {
      const { isWhole, refused } = await connect();
      if (isClosed || (isWhole && follower.isOver())) return;
      if (refused !== undefined && FINAL.has(refused.status)) {
        follower.onRefused(refused);
        return;
      }
      if (!isWhole) follower.onLive(false);
      if (isSignedOut(refused)) {
        session.send({ type: 'ended' });
        await whenSignedIn();
        continue;
      }
      await pause.wait(PAUSES_MS[Math.min(fails, PAUSES_MS.length - 1)] ?? 0);
      fails += 1;
    }
  };
  addEventListener('online', skip);
  void run();
  return () => {
    isClosed = true;
    removeEventListener('online', skip);
    connection?.close();
    skip();
  };
}
