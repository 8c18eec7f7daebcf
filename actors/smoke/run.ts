/** The smoke test of an app (SMOKE-1), through the chat path that people use, on the test channel, one run at a time. */

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Passage } from '../../assistant/models/model.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { CATALOG_VERSION, PROTOCOL_VERSION, SMOKE_QUESTIONS_MAX, SMOKE_TIMEOUT_MS } from '../../protocol/limits.ts';
import type { ChatRequest } from '../../protocol/runtime/chat.ts';
import { asAction } from '../../protocol/runtime/http-action.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { latestManifest } from '../../storage/apps/manifests.ts';
import { readIndexedTitles } from '../../storage/knowledge/knowledge-overview.ts';
import { readLatestSmokeRun, type SmokeAnswer, type SmokeRun, smokeDevice } from '../../storage/setup/smoke-runs.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Position } from '../frame-source.ts';
import type { Leases } from '../leases.ts';
import type { TurnCommand } from '../turns/command.ts';
import type { Turns } from '../turns/turns.ts';
import { type Heard, judgeAnswer, judgeRun } from './judge.ts';
import { type SmokeQuestion, smokeQuestions } from './questions.ts';

export interface SmokeServices {
  readonly storage: Storage;
  readonly actors: Pick<Turns, 'openTurn' | 'stopTurn'>;
  readonly log: Logger;
  nowMs(): number;
  readonly timeoutMs?: number;
  readonly leases: Pick<Leases, 'take'>;
}

/** The part of a run's time that is reserved for stopping its turns and saving it. */
const CLOSING_MS = 5_000;
/** How often a node asks whether the run of another one has ended. */
const LOOK_MS = 250;
/** Five answers one after the other, each as slow as an upstream may be, would not fit into the time. */
const ASKED_AT_ONCE = 2;
/** Frames of a turn read at a time: most turns come in one read, and a long one is not held twice. */
const READ_MAX_CHARS = 64 * 1024;
/** No build: an app's minimum SDK versions are about those. */
const SDK = 'smoke/1.0.0';

const TIMED_OUT: SmokeAnswer['error'] = { code: 'internal', message: 'There was no answer in the time that a smoke test has.' };

interface Asking {
  readonly runId: string;
  readonly app: AppRecord;
  readonly manifestHash: string | null;
  readonly signal: AbortSignal;
}

/** The events of whole frames; deltas are left out, because `block.ready` brings the whole text. */
function eventsOf(frames: string): StreamEvent[] {
  return frames.split('\n\n').flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined || frame.includes('\nevent: block.delta\n')) return [];
    return [JSON.parse(data) as StreamEvent];
  });
}

/** Reads a turn to its end, or until `signal`: then what was said so far. */
export function hearTurn({ source, fromSeq }: Position, signal: AbortSignal): Promise<{ events: StreamEvent[]; ended: boolean }> {
  return new Promise((resolve, reject) => {
    const events: StreamEvent[] = [];
    let seq = fromSeq;
    let unsubscribe = () => {};
    const leave = (ended: boolean) => {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      resolve({ events, ended });
    };
    const onAbort = () => leave(false);
    const read = () => {
      try {
        for (;;) {
          const slice = source.read(seq, READ_MAX_CHARS);
          seq = slice.nextSeq;
          events.push(...eventsOf(slice.text));
          if (slice.ended) return leave(true);
          if (slice.text === '') return;
        }
      } catch (error) {
        unsubscribe();
        reject(error);
      }
    };
    signal.addEventListener('abort', onAbort);
    unsubscribe = source.subscribe(read);
    if (signal.aborted) leave(false);
    else read();
  });
}

/** Ready after `timeMs` even when `work` is not. */
async function within(work: Promise<unknown>, timeMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  await Promise.race([work, time]).finally(() => clearTimeout(timer));
}

export class SmokeRuns {
  readonly #services: SmokeServices;
  readonly #running = new Map<string, Promise<SmokeRun>>();

  constructor(services: SmokeServices) {
    this.#services = services;
  }

  /** Runs the smoke test; a call while one runs gets that one's result. @throws Refusal not_found. */
  run(organisationId: string, appId: string): Promise<SmokeRun> {
    const running = this.#running.get(appId);
    if (running !== undefined) return running;
    const run = this.#runAlone(organisationId, appId).finally(() => this.#running.delete(appId));
    this.#running.set(appId, run);
    return run;
  }

  /** Runs it while no other node does, or returns the run that another node saved meanwhile. @throws also Refusal rate_limited. */
  async #runAlone(organisationId: string, appId: string): Promise<SmokeRun> {
    const db = this.#services.storage.organisation(organisationId);
    const before = readLatestSmokeRun(db, appId)?.id;
    for (const endMs = performance.now() + SMOKE_TIMEOUT_MS; performance.now() < endMs; ) {
      const lease = await this.#services.leases.take(organisationId, `smoke ${appId}`);
      try {
        const latest = readLatestSmokeRun(db, appId);
        if (latest !== undefined && latest.id !== before) return latest;
        if (lease !== null) return await this.#run(organisationId, appId);
      } finally {
        lease?.release();
      }
      await pause(LOOK_MS);
    }
    throw new Refusal('rate_limited', 'The smoke test that runs already takes too long. Send the request again.', { retryAfterS: 5 });
  }

  async #run(organisationId: string, appId: string): Promise<SmokeRun> {
    const { storage, log, nowMs, timeoutMs = SMOKE_TIMEOUT_MS - CLOSING_MS } = this.#services;
    const db = storage.organisation(organisationId);
    const app = readApp(db, appId, organisationId);
    if (app === undefined) throw new Refusal('not_found', `There is no app ${appId}.`);
    const createdAtMs = nowMs();
    const id = mintId('run', createdAtMs);
    const manifest = latestManifest(db, appId);
    const { suggestions, languages } = readPersona(db, app, 'sandbox');
    const questions = smokeQuestions({
      suggestions,
      languages,
      titles: readIndexedTitles(db, appId, SMOKE_QUESTIONS_MAX),
      actions: [...(manifest?.document.actions ?? []), ...askableActions(db, app)],
    });
    const time = new AbortController();
    const timer = setTimeout(() => time.abort(), timeoutMs);
    try {
      const answers = await this.#askAll(questions, { runId: id, app, manifestHash: manifest?.hash ?? null, signal: time.signal });
      const run: SmokeRun = { id, appId, ...judgeRun(answers), answers, createdAtMs };
      await storage.write(organisationId, 'saveSmokeRun', run);
      const { passed, platformFailure } = run;
      log.info({ app_id: appId, run_id: id, passed, platform_failure: platformFailure, answers: answers.length }, 'smoke test ended');
      return run;
    } finally {
      clearTimeout(timer);
    }
  }

  async #askAll(questions: readonly SmokeQuestion[], asking: Asking): Promise<SmokeAnswer[]> {
    const answers: SmokeAnswer[] = [];
    const waiting = [...questions.entries()];
    const askOn = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, question] = next;
        answers[index] = judgeAnswer(question, await this.#ask(question, asking));
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
    return answers;
  }

  async #ask(question: SmokeQuestion, asking: Asking): Promise<Heard> {
    const passages: Passage[] = [];
    if (asking.signal.aborted) return { events: [], passages, called: [], isNoAnswer: false, error: TIMED_OUT };
    const called: string[] = [];
    let isNoAnswer = false;
    const heard = (events: readonly StreamEvent[], error: SmokeAnswer['error']): Heard => ({
      events,
      passages,
      called,
      isNoAnswer,
      error,
    });
    const command = turnCommand(question, asking, {
      onPassages: (found) => passages.push(...found),
      onAction: (name) => called.push(name),
      onNoAnswer: (isMarked) => {
        isNoAnswer = isMarked;
      },
    });
    try {
      const position = await this.#services.actors.openTurn(command);
      const { events, ended } = await hearTurn(position, asking.signal);
      if (ended) return heard(events, null);
      await within(this.#stop(command), CLOSING_MS / 2);
      return heard(events, TIMED_OUT);
    } catch (error) {
      if (error instanceof Refusal) return heard([], { code: error.code, message: error.message });
      this.#services.log.error({ err: error, run_id: asking.runId }, 'asking a question of a smoke test failed because of a bug');
      return heard([], { code: 'internal', message: 'The service could not ask this.' });
    }
  }

  /** The result is not needed any more: the model can stop. */
  async #stop({ appId, channel, deviceId, organisationId, turnId }: TurnCommand): Promise<void> {
    try {
      await this.#services.actors.stopTurn({ organisationId, appId, channel, deviceId, person: null }, turnId);
    } catch (error) {
      // The turn may have ended. Its rows leave with the run, so a step that comes later cannot be committed.
      this.#services.log.warn({ err: error, turn_id: turnId }, 'stopping a turn of a smoke test failed');
    }
  }
}

/** HTTP actions that need no signed-in person: a smoke test has none. */
function askableActions(db: Connection, app: AppRecord): ManifestAction[] {
  return (enabledActions(db, app)?.actions ?? []).filter(({ auth }) => auth === 'none').map(asAction);
}

type Ears = Required<Pick<TurnCommand, 'onPassages' | 'onAction' | 'onNoAnswer'>>;

/** A question as a client with every component and the latest build would send it, in a conversation of its own. */
function turnCommand(question: SmokeQuestion, asking: Asking, ears: Ears): TurnCommand {
  const { app, manifestHash, runId } = asking;
  const turnId = randomUUID();
  const body: ChatRequest = {
    message: { text: question.text },
    client: {
      protocol: PROTOCOL_VERSION,
      sdk: SDK,
      catalog_version: CATALOG_VERSION,
      components: [...CATALOG.keys()],
      manifest_hash: manifestHash,
      capabilities: [],
      action_kinds: [],
    },
  };
  return {
    app,
    appId: app.id,
    organisationId: app.organisationId,
    channel: 'sandbox',
    deviceId: smokeDevice(runId),
    person: null,
    turnId,
    fingerprint: turnId,
    requestId: `${runId}-${turnId}`,
    address: '',
    purpose: 'smoke',
    body,
    userToken: '',
    minuteLeft: null,
    ...ears,
  };
}
