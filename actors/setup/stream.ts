/** A setup session as a stream: its lines, and after each change the session with the states of its steps (SETUP-54). */
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import { readSession, readSetupEvents, type SetupEvent, type SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { Storage } from '../../storage/storage.ts';
import { type FrameSlice, type FrameSource, frame, PING_COMMENT } from '../frame-source.ts';
import { isClosed } from './session.ts';
import type { SetupSessions } from './sessions.ts';

/** Lines read at a time; one has at most some 10 KB. */
const EVENTS_PER_READ = 50;

export interface SessionFrames {
  event(event: SetupEvent): object;
  session(row: SetupSessionRow): object;
}

export function sessionSource(
  storage: Storage,
  ref: SessionRef,
  sessions: Pick<SetupSessions, 'session'>,
  frames: SessionFrames,
): FrameSource {
  const db = storage.organisation(ref.organisationId);
  let toldRevision = 0;
  let pingDue = false;
  return {
    read(seq, maxChars): FrameSlice {
      const row = readSession(db, ref.sessionId);
      let text = '';
      let nextSeq = seq;
      const events = readSetupEvents(db, ref.sessionId, seq, EVENTS_PER_READ);
      for (const event of events) {
        if (text.length >= maxChars) break;
        text += frame('event', JSON.stringify(frames.event(event)), event.id);
        nextSeq = event.id + 1;
      }
      // The app was deleted, and its sessions with it.
      if (row === undefined) return { text, nextSeq, ended: true };
      const caughtUp = nextSeq >= row.nextEvent;
      if (caughtUp && row.revision !== toldRevision) {
        toldRevision = row.revision;
        text += frame('session', JSON.stringify(frames.session(row)));
      }
      if (text === '' && pingDue) text = PING_COMMENT;
      pingDue = false;
      return { text, nextSeq, ended: caughtUp && isClosed(row.state) };
    },
    // Fetched here: an actor without work and watchers would not last until the subscription.
    subscribe: (wake) =>
      sessions.session(ref).watch(() => {
        pingDue = true;
        wake();
      }),
  };
}
