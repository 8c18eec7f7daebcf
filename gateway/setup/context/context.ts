/** GET /context: everything an agent has to know before it writes (SETUP-38). Reads only; no secret. */
import { readAppStatus } from '../../../actors/setup/app-status.ts';
import { panelSteps } from '../../../actors/setup/panel.ts';
import { releaseOf } from '../../../actors/setup/release.ts';
import type { Surroundings } from '../../../protocol/setup/actions.ts';
import type { ModelOffer } from '../../../protocol/setup/model-choice.ts';
import { setupSchemas } from '../../../protocol/setup/schemas.ts';
import { AGENT_STEPS } from '../../../protocol/setup/steps.ts';
import type { WriteMode } from '../../../protocol/setup/writes.ts';
import { timestamp } from '../../../protocol/timestamp.ts';
import type { AppRecord } from '../../../storage/apps/apps.ts';
import { type Channel, listKeys } from '../../../storage/organisations/organisations.ts';
import { listVerdicts, listWaitingProposals } from '../../../storage/setup/proposals.ts';
import { readDetected, type SetupSessionRow } from '../../../storage/setup/setup-sessions.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { RUNTIME_DOCS_PATH } from '../../docs.ts';
import { proposalToWire } from '../../proposal-wire.ts';
import { readConfiguration, readIntake } from './config.ts';
import { sdkSection } from './snippets.ts';

export interface ContextSources {
  readonly db: Connection;
  readonly control: Connection;
  readonly app: AppRecord;
  readonly session: SetupSessionRow;
  readonly writes: WriteMode;
  readonly publicUrl: string;
  readonly surroundings: Surroundings;
  readonly models: readonly ModelOffer[];
  readonly sourcesAfter?: string;
}

/** What is known of the brand before anybody reads the code: its name, and the sites that show it. */
function brandHints({ name, settings: { intake } }: AppRecord) {
  const sites = intake.links.flatMap((link) => (URL.canParse(link) ? [new URL(link).origin] : []));
  return { name, sites: [...new Set(sites)] };
}

function profileOf(db: Connection, app: AppRecord) {
  const { links, description, isLive } = app.settings.intake;
  return {
    links,
    description,
    is_live: isLive,
    brand_hints: brandHints(app),
    detected: readDetected(db, app.id),
  };
}

/** The newest publishable key of each channel that works; null where there is none. */
function keysOf(control: Connection, appId: string): { test: string | null; live: string | null } {
  const keys = listKeys(control, appId);
  const newest = (channel: Channel) => keys.findLast((key) => key.channel === channel)?.token ?? null;
  return { test: newest('sandbox'), live: newest('live') };
}

/** Enough for an agent to learn what people want. */
const VERDICTS_TOLD = 50;

/** What waits for a person, and what people said of what did (PROPOSAL-11). */
function readProposals(db: Connection, appId: string) {
  return {
    waiting: listWaitingProposals(db, appId).map(proposalToWire),
    verdicts: listVerdicts(db, appId, VERDICTS_TOLD).map(proposalToWire),
  };
}

/** GET /context renders members down to the parts of `config` one by one. */
export const CONTEXT_DEPTH = 3;

/** The body of GET /context, for `renderInPieces`. Fields in their wire spelling. */
export async function readContext({ db, control, app, session, writes, publicUrl, surroundings, models, sourcesAfter }: ContextSources) {
  const keys = keysOf(control, app.id);
  return {
    app: { id: app.id, name: app.name, slug: app.slug, platform_hint: app.platformHint, live: app.live },
    session: { id: session.id, kind: session.kind, expires_at: timestamp(session.expiresAtMs), writes },
    profile: profileOf(db, app),
    intake: { knowledge: readIntake(db, app.id) },
    config: await readConfiguration(db, app, sourcesAfter),
    models,
    keys,
    sdk: sdkSection(publicUrl, keys.test, `${publicUrl}${RUNTIME_DOCS_PATH}`),
    api: { base: `${publicUrl}/setup`, runtime: publicUrl },
    steps: { all: panelSteps(session), agent: AGENT_STEPS },
    proposals: readProposals(db, app.id),
    facts: readAppStatus(db, app).facts,
    release: releaseOf(db, app, models),
    schemas: setupSchemas(surroundings),
  };
}
