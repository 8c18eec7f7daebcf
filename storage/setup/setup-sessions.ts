/**
 * Setup sessions and the lines of their panel (SETUP-3, SETUP-48). A session's row is changed by compare-and-set on `revision`, together
 * with the events that describe the change, so that no line exists without its change. At most one session of an app is open.
 */

import type { SessionKind } from '../../protocol/console/sessions.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Detected } from '../../protocol/setup/detected.ts';
import type { EventStatus, StepId } from '../../protocol/setup/steps.ts';
import { columns, insert, integer, json, orNull, type RowOf, readValue, text } from '../sqlite/columns.ts';
import type { Connection } from '../sqlite/connection.ts';
import { insertTrace, type NewTrace } from '../traces/traces.ts';

const session = columns({
  id: text,
  appId: text,
  kind: text.as<SessionKind>(),
  state: text,
  snapshot: text,
  panel: text,
  revision: integer,
  nextEvent: integer,
  outcome: orNull(text),
  openedAtMs: integer,
  expiresAtMs: integer,
  closedAtMs: orNull(integer),
});

export type SetupSessionRow = RowOf<typeof session>;

const setupEvent = columns({
  id: integer,
  step: text.as<StepId>(),
  status: text.as<EventStatus>(),
  title: orNull(text),
  detail: orNull(text),
  data: orNull(json<unknown>()),
  origin: text.as<'agent' | 'server'>(),
  atMs: integer,
});

export type SetupEvent = RowOf<typeof setupEvent>;

export type NewSetupEvent = Omit<SetupEvent, 'id' | 'atMs'>;

/** Events of one session: hundreds of lines for each step, and more than a person reads. */
export const EVENTS_PER_SESSION_MAX = 10_000;
/** Room beyond that for the server's own lines. When it is used up, further lines are dropped, and the panel goes on. */
export const SERVER_EVENTS_SLACK = 1_000;

/** Closed sessions kept of an app: a history, not an archive. */
const SESSIONS_KEPT = 50;

export function readSession(db: Connection, sessionId: string): SetupSessionRow | undefined {
  return session.get(db, 'FROM setup_sessions WHERE id = :sessionId', { sessionId });
}

export function readOpenSession(db: Connection, appId: string): SetupSessionRow | undefined {
  return session.get(db, 'FROM setup_sessions WHERE app_id = :appId AND closed_at_ms IS NULL', { appId });
}

export function readLatestSession(db: Connection, appId: string): SetupSessionRow | undefined {
  return session.get(db, 'FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC, id DESC LIMIT 1', { appId });
}

export function listSessions(db: Connection, appId: string, limit: number): SetupSessionRow[] {
  return session.all(db, 'FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC, id DESC LIMIT :limit', { appId, limit });
}

export function readSetupEvents(db: Connection, sessionId: string, from: number, limit: number): SetupEvent[] {
  const page = 'FROM setup_events WHERE session_id = :sessionId AND id >= :from ORDER BY id LIMIT :limit';
  return setupEvent.all(db, page, { sessionId, from, limit });
}

/** Open sessions whose 24 hours are over at `nowMs`, at most `limit`. */
export function readDueSessions(db: Connection, nowMs: number, limit: number): SetupSessionRow[] {
  const from = 'FROM setup_sessions WHERE closed_at_ms IS NULL AND expires_at_ms <= :nowMs ORDER BY expires_at_ms LIMIT :limit';
  return session.all(db, from, { nowMs, limit });
}

export function nextSessionDeadline(db: Connection): number | null {
  return readValue(db, orNull(integer), 'SELECT min(expires_at_ms) FROM setup_sessions WHERE closed_at_ms IS NULL') ?? null;
}

export function readDetected(db: Connection, appId: string): Detected | null {
  return readValue(db, orNull(json<Detected>()), 'SELECT detected FROM apps WHERE id = :appId', { appId }) ?? null;
}

type NewSession = Pick<SetupSessionRow, 'id' | 'appId' | 'kind' | 'state' | 'snapshot' | 'panel' | 'openedAtMs' | 'expiresAtMs'>;

/** `revision`: the one that was read. */
export interface CommitSessionInput extends Pick<SetupSessionRow, 'revision' | 'state' | 'snapshot' | 'panel' | 'outcome'> {
  readonly sessionId: string;
  readonly closed: boolean;
  readonly events: readonly NewSetupEvent[];
  readonly detected: string | null;
  readonly trace?: NewTrace | null;
  readonly panelTrace?: NewTrace | null;
  readonly nowMs: number;
}

function insertEvents(db: Connection, sessionId: string, firstId: number, events: readonly NewSetupEvent[], nowMs: number): void {
  events.forEach(({ data, ...event }, index) => {
    const row = { ...event, sessionId, id: firstId + index, data: data === null ? null : JSON.stringify(data), atMs: nowMs };
    insert(db, 'setup_events', row);
  });
}

/** The events that still fit; `count`: the session's events so far. @throws Refusal conflict when an agent's line does not fit. */
function fitting(count: number, events: readonly NewSetupEvent[]): readonly NewSetupEvent[] {
  if (count + events.length > EVENTS_PER_SESSION_MAX && events.some(({ origin }) => origin === 'agent')) {
    throw new Refusal('conflict', `A session has at most ${EVENTS_PER_SESSION_MAX} events: send no more of them. Everything else goes on.`);
  }
  return events.slice(0, Math.max(0, EVENTS_PER_SESSION_MAX + SERVER_EVENTS_SLACK - count));
}

const eventCount = columns({ appId: text, nextEvent: integer });

function keepTraces(db: Connection, appId: string, { sessionId: instance, nowMs, trace, panelTrace }: CommitSessionInput): void {
  if (trace != null) insertTrace(db, { appId, machine: 'setup-session', instance, nowMs }, trace);
  if (panelTrace != null) insertTrace(db, { appId, machine: 'step-panel', instance, nowMs }, panelTrace);
}

/** Returns the ids of the events; null when the session changed since it was read. @throws Refusal conflict when it takes no more events. */
export function commitSetupSession(db: Connection, input: CommitSessionInput): number[] | null {
  const { sessionId, revision, nowMs } = input;
  const before = eventCount.get(db, 'FROM setup_sessions WHERE id = :sessionId', { sessionId });
  if (before === undefined) return null;
  const events = fitting(before.nextEvent - 1, input.events);
  const update = `UPDATE setup_sessions SET state = :state, snapshot = :snapshot, panel = :panel, revision = revision + 1,
        next_event = next_event + :count, outcome = coalesce(:outcome, outcome),
        closed_at_ms = CASE WHEN :closed THEN coalesce(closed_at_ms, :nowMs) ELSE closed_at_ms END
      WHERE id = :sessionId AND revision = :revision`;
  const [row] = eventCount.returning(db, update, {
    sessionId,
    revision,
    state: input.state,
    snapshot: input.snapshot,
    panel: input.panel,
    outcome: input.outcome,
    closed: input.closed ? 1 : 0,
    count: events.length,
    nowMs,
  });
  if (row === undefined) return null;
  keepTraces(db, row.appId, input);
  const firstId = row.nextEvent - events.length;
  insertEvents(db, sessionId, firstId, events, nowMs);
  if (input.detected !== null) {
    db.statement('UPDATE apps SET detected = :detected WHERE id = :appId').run({ detected: input.detected, appId: row.appId });
  }
  return events.map((_, index) => firstId + index);
}

/** Adds a line of the server, also to a closed session. A full session drops it. */
export function addServerEvent(db: Connection, sessionId: string, event: NewSetupEvent, nowMs: number): void {
  const id = eventCount.get(db, 'FROM setup_sessions WHERE id = :sessionId', { sessionId })?.nextEvent;
  if (id === undefined || fitting(id - 1, [event]).length === 0) return;
  db.statement('UPDATE setup_sessions SET next_event = next_event + 1, revision = revision + 1 WHERE id = :sessionId').run({ sessionId });
  insertEvents(db, sessionId, id, [event], nowMs);
}

export const transactions = {
  /** False when the app has an open session already: close that one first. */
  openSetupSession(db: Connection, input: NewSession): boolean {
    if (readOpenSession(db, input.appId) !== undefined) return false;
    const remove = `DELETE FROM setup_sessions WHERE app_id = :appId AND id IN
        (SELECT id FROM setup_sessions WHERE app_id = :appId ORDER BY opened_at_ms DESC LIMIT -1 OFFSET :kept)`;
    db.statement(remove).run({ appId: input.appId, kept: SESSIONS_KEPT });
    insert(db, 'setup_sessions', { ...input, revision: 1, nextEvent: 1 });
    return true;
  },

  commitSetupSession,
};
