/** What the service knows of an app's readiness (SETUP-45, LIVE-3): facts from rows, and the four checks that follow. */
import type { StepId } from '../../protocol/setup/steps.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { countActions } from '../../storage/apps/http-actions.ts';
import { latestManifest } from '../../storage/apps/manifests.ts';
import { countScreens, screensMissing } from '../../storage/apps/screens.ts';
import { countKnowledge, type KnowledgeCounts, lastIndexedAtMs } from '../../storage/knowledge/knowledge-overview.ts';
import { readLatestSmokeRun, type SmokeRun } from '../../storage/setup/smoke-runs.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { counted } from '../configuration/text-format.ts';

export interface ManifestFacts {
  /** `<platform>/<semver>` of the build that posted it. */
  readonly sdkVersion: string;
  readonly actionCount: number;
  readonly routeCount: number;
  readonly actions: readonly string[];
  readonly routes: readonly string[];
}

export interface SmokeFacts {
  readonly passed: boolean;
  readonly ok: number;
  readonly total: number;
}

export interface AppFacts {
  readonly handshakeAt: string | null;
  /** From the latest manifest; null before the first one, here and below. */
  readonly manifest: ManifestFacts | null;
  readonly knowledge: KnowledgeCounts;
  readonly declaredScreens: number;
  readonly httpActions: { readonly enabled: number; readonly needsKey: number };
  readonly smoke: SmokeFacts | null;
  readonly liveAt: string | null;
}

export interface GoLiveCheck {
  readonly key: 'app' | 'knowledge' | 'screens' | 'smoke';
  readonly label: string;
  readonly ok: boolean;
  /** A sentence to act on, or what made it pass. */
  readonly detail: string;
}

function manifestFacts(db: Connection, appId: string): ManifestFacts | null {
  const manifest = latestManifest(db, appId);
  if (manifest === undefined) return null;
  const { actions, routes } = manifest.document;
  return {
    sdkVersion: manifest.sdk,
    actionCount: actions.length,
    routeCount: routes.length,
    actions: actions.map((action) => action.name),
    routes: routes.map((route) => route.name),
  };
}

export function smokeFacts({ passed, answers }: SmokeRun): SmokeFacts {
  return { passed, ok: answers.filter((answer) => answer.ok).length, total: answers.length };
}

function appCheck({ handshakeAt, manifest }: AppFacts): GoLiveCheck {
  const ok = handshakeAt !== null && manifest !== null;
  const detail = ok
    ? `The app connected with ${manifest.sdkVersion}: ${counted(manifest.actionCount, 'action')}, ${counted(manifest.routeCount, 'screen')}.`
    : handshakeAt === null
      ? 'The app has not connected yet. Build it with its test key and start it once, so that the SDK sends its manifest.'
      : 'The app connected, but has sent no manifest. Let it send one when it starts, also without actions and screens.';
  return { key: 'app', label: 'App connected', ok, detail };
}

function knowledgeCheck({ knowledge }: AppFacts): GoLiveCheck {
  const waiting = knowledge.pending + knowledge.indexing;
  const failed = knowledge.failed === 0 ? '' : ` ${counted(knowledge.failed, 'source')} failed: send what failed again or archive it.`;
  const detail =
    waiting > 0
      ? `${counted(waiting, 'source waits', 'sources wait')} to be indexed. Wait a little and look again.`
      : knowledge.indexed === 0
        ? `There is no source to read: the assistant answers from its actions and the conversation alone.${failed}`
        : `${counted(knowledge.indexed, 'source is', 'sources are')} indexed, none waits.${failed}`;
  return { key: 'knowledge', label: 'Knowledge indexed', ok: waiting === 0, detail };
}

function screensCheck({ declaredScreens }: AppFacts, missing: number): GoLiveCheck {
  const detail =
    missing > 0
      ? `${counted(missing, 'declared screen is', 'declared screens are')} not in the latest manifest. Register them in the app and start it once, or archive them.`
      : declaredScreens === 0
        ? 'No screen is declared, so none is missing.'
        : `${counted(declaredScreens, 'screen is', 'screens are')} declared, none is missing in the latest manifest.`;
  return { key: 'screens', label: 'Screens registered', ok: missing === 0, detail };
}

function smokeDetail(run: SmokeRun | undefined, facts: SmokeFacts | null): string {
  if (run === undefined || facts === null) return 'No smoke test was run yet. Run it once the configuration is complete.';
  const count = `${facts.ok} of ${counted(facts.total, 'answer')} used knowledge or an action`;
  if (run.passed) return `The latest smoke test passed: ${count}.`;
  if (run.platformFailure) return 'The service could not answer the latest smoke test. Change nothing and run it again later.';
  return `The latest smoke test failed: ${count}. Read its answers, add what they lacked and run it again.`;
}

export function readAppStatus(db: Connection, app: AppRecord) {
  const run = readLatestSmokeRun(db, app.id);
  const missing = screensMissing(db, app.id);
  const facts: AppFacts = {
    handshakeAt: timestamp(app.handshakeAtMs),
    manifest: manifestFacts(db, app.id),
    knowledge: countKnowledge(db, app.id),
    declaredScreens: countScreens(db, app.id),
    httpActions: countActions(db, app.id),
    smoke: run === undefined ? null : smokeFacts(run),
    liveAt: timestamp(app.liveAtMs),
  };
  const connected = appCheck(facts);
  const indexed = knowledgeCheck(facts);
  const smoke: GoLiveCheck = {
    key: 'smoke',
    label: 'Smoke test passed',
    ok: run?.passed === true,
    detail: smokeDetail(run, facts.smoke),
  };
  return {
    app_ready: connected.ok,
    knowledge_ready: indexed.ok,
    screens_missing: missing,
    facts,
    go_live: [connected, indexed, screensCheck(facts, missing), smoke],
  };
}

/** When each step was last confirmed by what the service saw; absent: never. Milliseconds. */
export type Observations = Readonly<Partial<Record<StepId, number>>>;

/** What confirms a step (STEP-8): only such a tick closes `verify` and `test`. Read at every step of a session. */
export function readObservations(db: Connection, app: Pick<AppRecord, 'id' | 'handshakeAtMs'>): Observations {
  const manifest = latestManifest(db, app.id);
  const run = readLatestSmokeRun(db, app.id);
  const indexedAtMs = lastIndexedAtMs(db, app.id);
  return {
    ...(indexedAtMs !== null && { knowledge: indexedAtMs }),
    ...(manifest !== undefined && manifest.document.routes.length > 0 && { screens: manifest.lastSeenAtMs }),
    // A build that calls in again is seen again.
    ...(app.handshakeAtMs !== null && { verify: Math.max(app.handshakeAtMs, manifest?.lastSeenAtMs ?? 0) }),
    ...(run?.passed === true && { test: run.createdAtMs }),
  };
}
