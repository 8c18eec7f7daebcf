/** The entry point to setup sessions: owns which of them have an actor in this process. */
import { type SetupSessionEvent, setupSession } from '../../machines/setup-session.ts';
import { stepper } from '../../machines/step.ts';
import { stepPanel } from '../../machines/step-panel.ts';
import type { SessionKind } from '../../protocol/console/sessions.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { PING_INTERVAL_MS, SETUP_SESSION_HOURS } from '../../protocol/limits.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import {
  nextSessionDeadline,
  readDueSessions,
  readLatestSession,
  readOpenSession,
  readSession,
  type SetupSessionRow,
} from '../../storage/setup/setup-sessions.ts';
import type { ActorRecord } from '../actor-record.ts';
import type { DeadlineKind } from '../deadlines.ts';
import { OVERTAKEN, retried } from '../retried.ts';
import { SerialByKey } from '../serial.ts';
import { refuseLiveApp } from './admission.ts';
import { type IssuedCode, issueFileCode } from './files.ts';
import { panelJson } from './panel.ts';
import {
  type Committed,
  isClosed,
  type SessionChange,
  type SessionWork,
  type SetupServices,
  SetupSession,
  sessionOrRefuse,
} from './session.ts';

const SESSION_MS = SETUP_SESSION_HOURS * 3_600_000;
/** Opening is retried when another node has opened a session in between; in this process openings are serial. */
const OPEN_TRIES = 20;
/** Sessions of one app that may be opened at once; people open one, or two by a double click. */
const OPENING_MAX = 240;
const OPEN_PAUSE_MAX_MS = 50;
/** The delay with which watchers see a change of another node whose announcement was lost. */
const LOOK_MS = 2_000;
/** Sessions ended in one round; the next round follows at once. */
const DUE_PER_ROUND = 200;

export interface OpenedSession {
  readonly row: SetupSessionRow;
  readonly issued: IssuedCode;
}

function othersAreOpened(): Refusal {
  const message = 'Other sessions of this app are being opened at the same time. Send the request again.';
  return new Refusal('rate_limited', message, { retryAfterS: 1 });
}

export class SetupSessions {
  readonly #services: SetupServices;
  readonly #active = new Map<string, SetupSession>();
  readonly #opening = new SerialByKey({ max: OPENING_MAX, full: othersAreOpened });
  readonly #pings: NodeJS.Timeout;
  readonly #stopLooks: () => void;

  constructor(services: SetupServices) {
    this.#services = services;
    // Watchers of a session in which nothing happens still need a sign that the connection is alive.
    this.#pings = setInterval(() => {
      for (const session of this.#active.values()) session.wake();
    }, PING_INTERVAL_MS);
    this.#pings.unref();
    services.others.listen('sessionChanged', ({ sessionId }) => this.#look(this.#active.get(sessionId)));
    this.#stopLooks = services.others.lookEvery(LOOK_MS, () => {
      for (const session of this.#active.values()) this.#look(session);
    });
  }

  #look(session: SetupSession | undefined): void {
    try {
      session?.look();
    } catch (error) {
      this.#services.log.error({ err: error }, 'checking a setup session for changes by other nodes failed: checked again in 2 seconds');
    }
  }

  /** The actor of a session. Use or watch it at once: it is dropped as soon as it has neither work nor watchers. */
  session(ref: SessionRef): SetupSession {
    const active = this.#active.get(ref.sessionId);
    if (active !== undefined) return active;
    const session = new SetupSession(ref, this.#services, () => {
      // An earlier actor may report idle again, when another one has taken its place.
      if (this.#active.get(ref.sessionId) === session) this.#active.delete(ref.sessionId);
      this.#count();
    });
    this.#active.set(ref.sessionId, session);
    this.#count();
    return session;
  }

  #count(): void {
    this.#services.node.send({ type: 'counted', counts: { sessions: this.#active.size } });
  }

  actors(node: string): ActorRecord[] {
    return [...this.#active.values()].map(({ ref: { sessionId, organisationId, appId }, sinceMs, waiting }) => ({
      ...{ kind: 'setup_session', id: sessionId, node, organisationId, appId, turnId: null, waiting, sinceMs },
      state: readSession(this.#services.storage.organisation(organisationId), sessionId)?.state ?? 'gone',
    }));
  }

  change(ref: SessionRef, work: (session: SessionWork) => SessionChange): Promise<Committed> {
    return this.session(ref).change(work);
  }

  /** Opens a session for the app and cancels its open one (SETUP-1). @throws Refusal app_live for a setup session; rate_limited. */
  open(app: AppRecord, kind: SessionKind): Promise<OpenedSession> {
    return this.#opening.do(app.id, () => this.#open(app, kind));
  }

  #open(app: AppRecord, kind: SessionKind): Promise<OpenedSession> {
    refuseLiveApp(app, kind);
    const retries = { max: OPEN_TRIES, pauseMs: () => Math.random() * OPEN_PAUSE_MAX_MS, exhausted: othersAreOpened };
    return retried(retries, () => this.#openOne(app, kind));
  }

  async #openOne(app: AppRecord, kind: SessionKind): Promise<OpenedSession | typeof OVERTAKEN> {
    const { storage } = this.#services;
    const db = storage.organisation(app.organisationId);
    const open = readOpenSession(db, app.id);
    if (open !== undefined) await this.#end(app.organisationId, open, { type: 'session.replaced' });
    const openedAtMs = this.#services.nowMs();
    const id = mintId('ses', openedAtMs);
    const expiresAtMs = openedAtMs + SESSION_MS;
    const machine = stepper(setupSession, { input: { kind, expiresAtMs } });
    const opened = await storage.write(app.organisationId, 'openSetupSession', {
      id,
      appId: app.id,
      kind,
      state: machine.state,
      snapshot: JSON.stringify(machine.snapshot.context),
      panel: panelJson(stepper(stepPanel)),
      openedAtMs,
      expiresAtMs,
    });
    if (!opened) return OVERTAKEN;
    this.#services.noteDeadline(app.organisationId, expiresAtMs);
    const issued = await issueFileCode(this.#services, { sessionId: id, organisationId: app.organisationId, appId: app.id });
    return { row: sessionOrRefuse(db, id), issued };
  }

  /** Stop in the console. A closed session stays as it is. */
  stop(organisationId: string, row: SetupSessionRow): Promise<Committed> {
    return this.#end(organisationId, row, { type: 'session.stop' });
  }

  #end(organisationId: string, row: SetupSessionRow, event: SetupSessionEvent): Promise<Committed> {
    return this.change({ sessionId: row.id, organisationId, appId: row.appId }, ({ session }) => {
      session.send(event);
      return {};
    });
  }

  /** Await it before reporting the session closed: it must stay expired when the clock is set back. */
  async expire({ sessionId, organisationId }: SessionRef): Promise<void> {
    const row = readSession(this.#services.storage.organisation(organisationId), sessionId);
    if (row === undefined || isClosed(row.state)) return;
    await this.#end(organisationId, row, { type: 'session.expire', nowMs: this.#services.nowMs() });
  }

  /** The open setup session ends, a sync session continues (SETUP-6). */
  async appWentLive(organisationId: string, appId: string): Promise<void> {
    const open = readOpenSession(this.#services.storage.organisation(organisationId), appId);
    if (open !== undefined) await this.#end(organisationId, open, { type: 'app.live' });
  }

  /** A line was added to the app's latest session from outside its own work. */
  tell(organisationId: string, appId: string): void {
    const row = readLatestSession(this.#services.storage.organisation(organisationId), appId);
    if (row === undefined) return;
    this.#active.get(row.id)?.wake();
    this.#services.others.announce('sessionChanged', { sessionId: row.id, organisationId, appId });
  }

  async observe(organisationId: string, appId: string): Promise<void> {
    const open = readOpenSession(this.#services.storage.organisation(organisationId), appId);
    if (open?.state === 'running') await this.change({ sessionId: open.id, organisationId, appId }, () => ({}));
  }

  deadlines(): DeadlineKind {
    return {
      next: nextSessionDeadline,
      settle: async (organisationId) => {
        const nowMs = this.#services.nowMs();
        for (const row of readDueSessions(this.#services.storage.organisation(organisationId), nowMs, DUE_PER_ROUND)) {
          await this.#end(organisationId, row, { type: 'session.expire', nowMs });
        }
      },
    };
  }

  close(): void {
    clearInterval(this.#pings);
    this.#stopLooks();
  }
}
