/** A setup session as it goes on: its lines and the state of its steps, from the stream. */
import { useEffect, useState } from 'preact/hooks';
import type { Line, SetupSession } from '../../../protocol/console/setup-answers.ts';
import { follow } from '../api/follow.ts';
import type { ApiError } from '../api/request.ts';
import { isOver, withLines } from './session.ts';

export interface FollowedSession {
  readonly session: SetupSession | undefined;
  readonly lines: readonly Line[];
  readonly isLive: boolean;
  readonly error: ApiError | undefined;
}

const NOTHING: FollowedSession = { session: undefined, lines: [], isLive: false, error: undefined };

/** What comes within a picture's time is drawn at once: a session of thousands of lines is there in some pictures. */
const GATHERED_MS = 16;

export function useSession(id: string): FollowedSession {
  const [followed, hold] = useState<{ readonly id: string } & FollowedSession>({ id, ...NOTHING });
  useEffect(() => {
    let waiting: Line[] = [];
    let latest: SetupSession | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (part: Partial<FollowedSession>) => hold((before) => ({ ...(before.id === id ? before : { id, ...NOTHING }), ...part }));
    const flush = () => {
      timer = undefined;
      const lines = waiting;
      waiting = [];
      hold((before) => {
        const own = before.id === id ? before : { id, ...NOTHING };
        return { ...own, session: latest ?? own.session, lines: withLines(own.lines, lines) };
      });
    };
    const end = follow(`/sessions/${encodeURIComponent(id)}/stream`, {
      onFrame({ event, data }) {
        if (event === 'event') waiting.push(data as Line);
        else if (event === 'session') latest = data as SetupSession;
        timer ??= setTimeout(flush, GATHERED_MS);
      },
      onLive: (isLive) => change({ isLive, ...(isLive ? { error: undefined } : {}) }),
      isOver: () => latest !== undefined && isOver(latest),
      onRefused: (error) => change({ error, isLive: false }),
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [id]);
  return followed.id === id ? followed : NOTHING;
}
