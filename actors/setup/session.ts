/** One setup session: takes the events of agent, people and clock one at a time. Its rows are the truth; other nodes may change them. */
import type { Logger } from 'pino';
import { type AgentIdentity, type SetupSessionContext, type SetupSessionEffect, setupSession } from '../../machines/setup-session.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import type { stepPanel } from '../../machines/step-panel.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { AgentStepId } from '../../protocol/setup/steps.ts';
import { readApp } from '../../storage/apps/apps.ts';
import type { PlannedMails } from '../../storage/billing/member-mails.ts';
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import { type CommitSessionInput, type NewSetupEvent, readSession, type SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewTrace } from '../../storage/traces/traces.ts';
import type { Announcer } from '../announcements.ts';
import type { NodeStore } from '../node.ts';
import { Readers } from '../readers.ts';
import { OVERTAKEN, type Retries, retried } from '../retried.ts';
import { Serial } from '../serial.ts';
import { takenTrace } from '../taken-trace.ts';
import { readObservations } from './app-status.ts';
import { SessionPanel } from './panel.ts';

export interface SetupServices {
  readonly storage: Storage;
  readonly log: Logger;
  nowMs(): number;
  noteDeadline(organisationId: string, atMs: number): void;
  readonly others: Announcer;
  readonly node: NodeStore;
  mailsPlanned(organisationId: string): void;
}

/** A step is retried when another node has committed in between. With their pauses these tries take some two seconds. */
const STEP_TRIES = 60;
const STEP_PAUSE_MAX_MS = 60;
const STEP_RETRIES: Retries = {
  max: STEP_TRIES,
  pauseMs: (attempt) => Math.random() * Math.min(attempt * 4, STEP_PAUSE_MAX_MS),
  exhausted: () => new Error(`the session's row kept changing: gave up after ${STEP_TRIES} tries`),
};
/** An agent's 120 requests of a minute at once, and as many of people and the service: work refused here may have been done already. */
const WAITING_MAX = 240;

export interface SessionWork {
  readonly row: SetupSessionRow;
  readonly session: Stepper<typeof setupSession>;
  readonly panel: Stepper<typeof stepPanel>;
  readonly nowMs: number;
}

export interface GoesLive {
  readonly trace: NewTrace | null;
  readonly mails: PlannedMails;
}

export interface SessionChange {
  readonly events?: readonly NewSetupEvent[];
  readonly detected?: string;
  readonly outcome?: unknown;
  /** The step at which the session failed; null: the one that the agent was at last. */
  readonly failedStep?: AgentStepId | null;
  /** Set: the app goes live in the same transaction, by this step of its machine. */
  readonly goesLive?: GoesLive | null;
  /** Thrown after the commit: an expired session is closed as well as refused. */
  readonly refusal?: Refusal;
}

export interface Committed {
  readonly row: SetupSessionRow;
  readonly eventIds: readonly number[];
}

export function isClosed(state: string): boolean {
  return state !== 'open' && state !== 'running';
}

function tooMuchWaits(): Refusal {
  return new Refusal('rate_limited', 'Too much is going on in this session at once. Send the request again.', { retryAfterS: 1 });
}

export function noSuchApp(): Refusal {
  return new Refusal('app_not_found', 'The app of this session was deleted. There is nothing left to set up.');
}

export function sessionMachine(row: SetupSessionRow): Stepper<typeof setupSession> {
  return stepper(setupSession, { stored: { state: row.state, context: JSON.parse(row.snapshot) } });
}

/** What the machine of a session began with, for commits of its first steps; later ones need not tell it again. */
function inputOf({ kind, expiresAtMs, state }: SetupSessionRow): unknown {
  return state === 'open' ? { kind, expiresAtMs } : undefined;
}

export function agentOf(row: SetupSessionRow): AgentIdentity | null {
  return (JSON.parse(row.snapshot) as SetupSessionContext).agent;
}

/** @throws Refusal app_not_found. */
export function sessionOrRefuse(db: Connection, sessionId: string): SetupSessionRow {
  const row = readSession(db, sessionId);
  if (row === undefined) throw noSuchApp();
  return row;
}

/** The machine, which adds every effect that it emits to `effects`. */
function noting(machine: Stepper<typeof setupSession>, effects: SetupSessionEffect[]): Stepper<typeof setupSession> {
  return {
    get snapshot() {
      return machine.snapshot;
    },
    get state() {
      return machine.state;
    },
    send(event) {
      const step = machine.send(event);
      effects.push(...step.effects);
      return step;
    },
    takeSteps: () => machine.takeSteps(),
  };
}

/** Performs `closePanel`. The panel of a session that was stopped, was replaced or expired shows how far it came. */
function closePanel(work: SessionWork, effects: readonly SetupSessionEffect[], failedStep: AgentStepId | null): void {
  for (const effect of effects) {
    if (effect.type !== 'closePanel') continue;
    if (effect.outcome === 'completed') work.panel.send({ type: 'session.completed' });
    if (effect.outcome === 'failed') work.panel.send({ type: 'session.failed', step: failedStep });
  }
}

/** One active session. `change` does one piece of work at a time, `watch` tells of each commit, `onIdle` is called when there is neither work nor a watcher. */
export class SetupSession {
  readonly ref: SessionRef;
  readonly sinceMs: number;
  readonly #services: SetupServices;
  readonly #onIdle: () => void;
  readonly #readers = new Readers({
    came: () => {
      this.#toldRevision = this.#revision();
    },
    left: () => this.#rest(),
  });
  readonly #work = new Serial({ bound: { max: WAITING_MAX, full: tooMuchWaits }, idle: () => this.#rest() });
  /** The revision that watchers know; null for a missing session. */
  #toldRevision: number | null = 0;

  constructor(ref: SessionRef, services: SetupServices, onIdle: () => void) {
    this.ref = ref;
    this.sinceMs = services.nowMs();
    this.#services = services;
    this.#onIdle = onIdle;
  }

  get waiting(): number {
    return this.#work.waiting;
  }

  watch(wake: () => void): () => void {
    return this.#readers.add(wake);
  }

  wake(): void {
    this.#readers.wake();
  }

  #revision(): number | null {
    return readSession(this.#services.storage.organisation(this.ref.organisationId), this.ref.sessionId)?.revision ?? null;
  }

  look(): void {
    if (this.#readers.count === 0) return;
    const revision = this.#revision();
    if (revision === this.#toldRevision) return;
    this.#toldRevision = revision;
    this.wake();
  }

  /** `work` runs again when another process committed in between. @throws Refusal of the work, app_not_found, rate_limited */
  change(work: (session: SessionWork) => SessionChange): Promise<Committed> {
    return this.#work.do(() => retried(STEP_RETRIES, () => this.#attempt(work)));
  }

  #rest(): void {
    if (this.#work.waiting === 0 && this.#readers.count === 0) this.#onIdle();
  }

  async #attempt(work: (session: SessionWork) => SessionChange): Promise<Committed | typeof OVERTAKEN> {
    const db = this.#services.storage.organisation(this.ref.organisationId);
    const row = sessionOrRefuse(db, this.ref.sessionId);
    const effects: SetupSessionEffect[] = [];
    const panel = new SessionPanel(row);
    const session: SessionWork = {
      row,
      session: noting(sessionMachine(row), effects),
      get panel() {
        return panel.machine;
      },
      nowMs: this.#services.nowMs(),
    };
    const change = work(session);
    closePanel(session, effects, change.failedStep ?? null);
    const events = [...(change.events ?? []), ...this.#observe(db, session, panel)];
    const state = session.session.state;
    const steps = panel.toJson();
    const isSame = state === row.state && steps === row.panel && events.length === 0 && change.detected === undefined;
    if (isSame) return this.#told(change, { row, eventIds: [] });
    const input = {
      sessionId: row.id,
      revision: row.revision,
      state,
      snapshot: JSON.stringify(session.session.snapshot.context),
      panel: steps,
      outcome: change.outcome === undefined ? null : JSON.stringify(change.outcome),
      closed: isClosed(state),
      events,
      detected: change.detected ?? null,
      trace: takenTrace(setupSession, session.session, inputOf(row)),
      panelTrace: panel.takeTrace(),
      nowMs: session.nowMs,
    };
    const eventIds = await this.#commit(input, change.goesLive ?? null);
    if (eventIds === null) return OVERTAKEN;
    this.#committed(row.revision + 1);
    return this.#told(change, { row: sessionOrRefuse(db, row.id), eventIds: eventIds.slice(0, change.events?.length ?? 0) });
  }

  async #commit(input: CommitSessionInput, goesLive: SessionChange['goesLive']): Promise<number[] | null> {
    const { storage, mailsPlanned } = this.#services;
    const { organisationId, appId } = this.ref;
    if (goesLive == null) return storage.write(organisationId, 'commitSetupSession', input);
    const goLive = { appId, organisationId, nowMs: input.nowMs, ...goesLive };
    const ids = await storage.write(organisationId, 'commitSessionAndGoLive', { ...input, goLive });
    mailsPlanned(organisationId);
    return ids;
  }

  #committed(revision: number): void {
    this.#toldRevision = revision;
    this.wake();
    this.#services.others.announce('sessionChanged', this.ref);
  }

  #told(change: SessionChange, committed: Committed): Committed {
    if (change.refusal !== undefined) throw change.refusal;
    return committed;
  }

  #observe(db: Connection, work: SessionWork, panel: SessionPanel): NewSetupEvent[] {
    if (work.session.state !== 'running') return [];
    const app = readApp(db, this.ref.appId, this.ref.organisationId);
    if (app === undefined) throw noSuchApp();
    return panel.observe(readObservations(db, app));
  }
}
