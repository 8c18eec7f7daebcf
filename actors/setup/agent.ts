/** The calls of an agent on its session: claim, report, write, complete and fail (SETUP-3). */
import { Refusal } from '../../protocol/errors.ts';
import { EVENT_DETAIL_MAX_CHARS } from '../../protocol/limits.ts';
import { clipWhole } from '../../protocol/placeholder.ts';
import type { CompleteBody, FailBody } from '../../protocol/setup/completion.ts';
import { type Detected, mergeDetected } from '../../protocol/setup/detected.ts';
import type { ProgressEvent } from '../../protocol/setup/events.ts';
import type { StartBody } from '../../protocol/setup/start.ts';
import type { StepId } from '../../protocol/setup/steps.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import type { SessionRef } from '../../storage/setup/setup-access.ts';
import { type NewSetupEvent, readDetected, type SetupSessionRow } from '../../storage/setup/setup-sessions.ts';
import type { Storage } from '../../storage/storage.ts';
import { refusalIn, sessionRows } from './admission.ts';
import { goingLiveWithoutSession } from './go-live.ts';
import { releaseOf } from './release.ts';
import type { Committed, SessionChange, SessionWork } from './session.ts';
import type { SetupSessions } from './sessions.ts';

function line(step: StepId, status: NewSetupEvent['status'], title: string, detail: string | null = null): NewSetupEvent {
  return { step, status, title, detail, data: null, origin: 'server' };
}

export class SetupAgent {
  readonly #storage: Storage;
  readonly #sessions: SetupSessions;

  constructor(storage: Storage, sessions: SetupSessions) {
    this.#storage = storage;
    this.#sessions = sessions;
  }

  /** POST /start. @throws Refusal already_claimed, session_closed, app_live, app_not_found. */
  async claim(ref: SessionRef, { tool, model, os, detected }: StartBody): Promise<{ row: SetupSessionRow; app: AppRecord }> {
    const agent = { tool, model: model ?? null, os: os ?? null };
    const committed = await this.#sessions.change(ref, ({ session, panel, nowMs }) => {
      const { app } = sessionRows(this.#storage, ref);
      const { effects } = session.send({ type: 'session.claim', agent, nowMs, appLive: app.live });
      const refusal = refusalIn(effects);
      if (refusal !== undefined) return { refusal };
      const restarts = effects.some((effect) => effect.type === 'admit' && effect.restart);
      if (restarts) return { ...this.#discovery(ref, detected), events: [line('connected', 'progress', `${tool} started again.`)] };
      panel.send({ type: 'session.claimed' });
      return { ...this.#discovery(ref, detected), events: [line('connected', 'done', `${tool} connected.`)] };
    });
    return { row: committed.row, app: sessionRows(this.#storage, ref).app };
  }

  #discovery(ref: SessionRef, found: Detected | undefined): Pick<SessionChange, 'detected'> {
    return found === undefined ? {} : { detected: JSON.stringify(mergeDetected(this.#detected(ref), found)) };
  }

  #detected({ organisationId, appId }: SessionRef): Detected | null {
    return readDetected(this.#storage.organisation(organisationId), appId);
  }

  /** Work that needs a running session; a session that has ended refuses it. */
  #call(ref: SessionRef, work: (session: SessionWork) => SessionChange): Promise<Committed> {
    return this.#sessions.change(ref, (session) => {
      const { app } = sessionRows(this.#storage, ref);
      const { effects } = session.session.send({ type: 'session.call', nowMs: session.nowMs, appLive: app.live });
      const refusal = refusalIn(effects);
      return refusal === undefined ? work(session) : { refusal };
    });
  }

  /** POST /events: the agent's own lines. Returns their ids and the discovery report as it is kept now. */
  async report(
    ref: SessionRef,
    events: readonly ProgressEvent[],
    detected: Detected | undefined,
  ): Promise<{ ids: readonly number[]; detected: Detected | null }> {
    const { eventIds } = await this.#call(ref, ({ panel }) => {
      for (const { step, status } of events) panel.send({ type: 'step.reported', step, status });
      const lines = events.map(
        ({ step, status, title, detail, data }): NewSetupEvent => ({
          step,
          status,
          title: title ?? null,
          detail: detail ?? null,
          data: data ?? null,
          origin: 'agent',
        }),
      );
      return { ...this.#discovery(ref, detected), events: lines };
    });
    return { ids: eventIds, detected: this.#detected(ref) };
  }

  /** A write endpoint did its work: its step is under way, and a line says what was done. */
  wrote(ref: SessionRef, step: Exclude<StepId, 'waiting' | 'connected'>, what: string): Promise<Committed> {
    return this.#call(ref, ({ panel }) => {
      panel.send({ type: 'step.written', step });
      return { events: [line(step, 'progress', what)] };
    });
  }

  /** A write that saved nothing: a line says why, for who watches. The step stays as it is; a session that is over keeps no line. */
  async refused(ref: SessionRef, step: Exclude<StepId, 'waiting' | 'connected'>, kind: string, why: string): Promise<void> {
    const refusal = line(step, 'failed', `A write of ${kind} was refused.`, clipWhole(why, EVENT_DETAIL_MAX_CHARS));
    await this.#call(ref, () => ({ events: [refusal] })).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
  }

  /** POST /complete: the app goes live in the same transaction, if the session was the last thing that it waited for. */
  complete(ref: SessionRef, body: CompleteBody): Promise<Committed> {
    return this.#call(ref, ({ session }) => {
      session.send({ type: 'session.complete' });
      const { app } = sessionRows(this.#storage, ref);
      const db = this.#storage.organisation(ref.organisationId);
      const goesLive = goingLiveWithoutSession(this.#storage, app);
      const detail = app.live || goesLive !== null ? null : releaseOf(db, app).note;
      return { outcome: body, goesLive, events: [line('done', 'done', 'The agent finished.', detail)] };
    });
  }

  /** POST /fail: the step it names, or the one the agent was at, turns red with the reason. */
  fail(ref: SessionRef, body: FailBody): Promise<Committed> {
    return this.#call(ref, ({ session, panel }) => {
      const step = body.step ?? panel.snapshot.context.lastStep;
      session.send({ type: 'session.fail' });
      return { outcome: body, failedStep: step, events: [line(step ?? 'connected', 'failed', 'The agent gave up.', body.reason)] };
    });
  }
}
