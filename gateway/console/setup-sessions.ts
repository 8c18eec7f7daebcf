/** Console: setup sessions as a person opens, watches and stops them (SETUP-1, SETUP-7). */

import { seedSources } from '../../actors/configuration/knowledge.ts';
import { type IssuedCode, issueFileCode } from '../../actors/setup/files.ts';
import { panelSteps } from '../../actors/setup/panel.ts';
import { agentOf } from '../../actors/setup/session.ts';
import { sessionSource } from '../../actors/setup/stream.ts';
import { openSessionBody } from '../../protocol/console/sessions.ts';
import type { Command, Line, OpenedSession, SetupSession } from '../../protocol/console/setup-answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { findSession, type SessionRef } from '../../storage/setup/setup-access.ts';
import { listSessions, readSession, readSetupEvents, type SetupEvent, type SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import { seqAfter } from '../http/request-headers.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { setupUrlOf } from '../setup/addresses.ts';
import { appRead, appRoute } from './app-read.ts';
import { pageLimit } from './pages.ts';

const SESSIONS_DEFAULT = 20;
const SESSIONS_MAX = 50;

/** Events of a session on one page. */
const EVENTS_DEFAULT = 200;
const EVENTS_MAX = 1_000;

function eventToWire({ atMs, ...event }: SetupEvent): Line {
  return { ...event, at: timestamp(atMs) };
}

function sessionToWire(row: SetupSessionRow): SetupSession {
  return {
    id: row.id,
    app_id: row.appId,
    kind: row.kind,
    status: row.state as SetupSession['status'],
    agent: agentOf(row),
    outcome: row.outcome === null ? null : JSON.parse(row.outcome),
    opened_at: timestamp(row.openedAtMs),
    expires_at: timestamp(row.expiresAtMs),
    closed_at: timestamp(row.closedAtMs),
    steps: panelSteps(row),
  };
}

/** What a person hands to an agent: the command fetches the file. */
function codeToWire({ code, expiresAtMs }: IssuedCode, setupUrl: string): Command {
  const fileUrl = `${setupUrl}/file?code=${code}`;
  // Not into the repository that the agent works in: the file holds a token.
  const command = `curl -fsS '${fileUrl}' -o "\${TMPDIR:-/tmp}/assistant-setup.md"`;
  return { code, file_url: fileUrl, command, code_expires_at: timestamp(expiresAtMs) };
}

function requireSession({ storage }: Services, id: string | undefined): { ref: SessionRef; row: SetupSessionRow } {
  const ref = id === undefined ? undefined : findSession(storage.control, id);
  const row = ref === undefined ? undefined : readSession(storage.organisation(ref.organisationId), ref.sessionId);
  if (ref === undefined || row === undefined) throw new Refusal('not_found', `There is no session ${id ?? ''}.`);
  return { ref, row };
}

const openSessionRoute = appRoute('POST', '/sessions', openSessionBody, async ({ app }, { body, header }, services) => {
  const { row, issued } = await services.setup.sessions.open(app, body.kind);
  // Sites may be slow, and the person waits for the command only.
  seedSources(services.writes, app).catch((error: unknown) => {
    services.log.error({ err: error, app_id: app.id }, 'queueing the intake’s links for indexing failed: send them again as knowledge');
  });
  return json<OpenedSession>({ session: sessionToWire(row), ...codeToWire(issued, setupUrlOf(services, header)) }, 201);
});

const listSessionsRoute = appRead('/sessions', ({ app, db }, query) => ({
  sessions: listSessions(db, app.id, pageLimit(query, SESSIONS_DEFAULT, SESSIONS_MAX)).map(sessionToWire),
}));

const sessionCodeRoute = consoleRoute('POST', '/sessions/:session/code', undefined, async ({ params, header }, services) => {
  const { ref, row } = requireSession(services, params.session);
  if (row.closedAtMs !== null) throw new Refusal('session_closed', `The session is ${row.state}. Open a new one.`);
  return json(codeToWire(await issueFileCode(services.setup, ref), setupUrlOf(services, header)));
});

const readSessionRoute = consoleRoute('GET', '/sessions/:session', undefined, ({ params, query }, services) => {
  const { ref, row } = requireSession(services, params.session);
  const limit = pageLimit(query, EVENTS_DEFAULT, EVENTS_MAX);
  const after = Number(query.get('after') ?? 0);
  if (!Number.isSafeInteger(after)) throw new Refusal('invalid_request', 'after must be the id of an event.');
  const events = readSetupEvents(services.storage.organisation(ref.organisationId), row.id, after + 1, limit);
  const next = events.length === limit ? (events.at(-1)?.id ?? null) : null;
  return json({ session: sessionToWire(row), events: events.map(eventToWire), next });
});

const sessionStreamRoute = consoleRoute('GET', '/sessions/:session/stream', undefined, ({ params, header }, services) => {
  const { ref } = requireSession(services, params.session);
  const source = sessionSource(services.storage, ref, services.setup.sessions, {
    event: eventToWire,
    session: sessionToWire,
  });
  return { kind: 'stream', source: Promise.resolve({ source, fromSeq: seqAfter(header('last-event-id'), 1) }) };
});

const stopSessionRoute = consoleRoute('POST', '/sessions/:session/stop', undefined, async ({ params }, services) => {
  const { ref, row } = requireSession(services, params.session);
  const stopped = await services.setup.sessions.stop(ref.organisationId, row);
  return json({ session: sessionToWire(stopped.row) });
});

export const sessionRoutes: readonly Route[] = [
  openSessionRoute,
  listSessionsRoute,
  sessionCodeRoute,
  readSessionRoute,
  sessionStreamRoute,
  stopSessionRoute,
];
