/**
 * GET /v1/apps/config (service.md "GET /v1/apps/config"): the published configuration for a live key, the draft for a test
 * key, and whether the launcher is to be shown. The most frequent request there is: rendered once per revision.
 */
import { CONFIG_PER_MINUTE_PER_APP, CONFIG_PER_MINUTE_PER_DEVICE } from '../../protocol/limits.ts';
import type { AppConfigReply } from '../../protocol/runtime/config.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { Connection } from '../../storage/connection.ts';
import { dataVersion } from '../../storage/data-version.ts';
import { type PublishedConfig, readPublishedConfig } from '../../storage/drafts.ts';
import { isCreditExhausted } from '../../storage/usage.ts';
import { etagOf, noneMatch } from '../etag.ts';
import { perMinute } from '../rate-limit.ts';
import { defineRoute, type Reply, type RuntimeCaller } from '../route.ts';
import type { Services } from '../services.ts';

interface Rendered {
  readonly fresh: Reply;
  readonly unchanged: Reply;
  readonly etag: string;
}

/** Keyed by what storage keeps per revision and channel, so an entry lives as long as that does. */
const rendered = new WeakMap<PublishedConfig, Map<string, Rendered>>();

function render(published: PublishedConfig, caller: RuntimeCaller, available: boolean): Rendered {
  const { version, config } = published;
  const channel: AppConfigReply['channel'] = caller.channel === 'live' ? 'published' : 'draft';
  const updated_at = timestamp(published.updatedAtMs);
  const reply: AppConfigReply = { channel, version, updated_at, available, config };
  // `updated_at` is informational: saving a draft without a change must not make every SDK fetch it again.
  const etag = etagOf(JSON.stringify([channel, version, available, config]));
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
  return {
    etag,
    fresh: {
      kind: 'text',
      status: 200,
      body: JSON.stringify(reply),
      headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    },
    unchanged: { kind: 'empty', status: 304, headers },
  };
}

function renderOnce(published: PublishedConfig, caller: RuntimeCaller, available: boolean): Rendered {
  let variants = rendered.get(published);
  if (variants === undefined) {
    variants = new Map();
    rendered.set(published, variants);
  }
  const variant = `${caller.channel} ${available}`;
  let answer = variants.get(variant);
  if (answer === undefined) {
    answer = render(published, caller, available);
    variants.set(variant, answer);
  }
  return answer;
}

/** What was found out about an organisation's credit, and of which state of the files and at what time it is true. */
interface KnownCredit {
  readonly controlVersion: number;
  readonly version: number;
  readonly atMs: number;
  readonly exhausted: boolean;
}

/** Credit also comes and goes with the calendar; a second late does not matter to a launcher. */
const CREDIT_KEPT_MS = 1_000;

const knownCredit = new WeakMap<Connection, KnownCredit>();

/** Working credit out takes longer than all the rest, so it is done again only once a file was written to, or after a second. */
function isExhausted(organisationId: string, db: Connection, { storage, nowMs }: Services): boolean {
  const atMs = nowMs();
  const controlVersion = dataVersion(storage.control);
  const version = dataVersion(db);
  const known = knownCredit.get(db);
  const stillTrue = known?.controlVersion === controlVersion && known.version === version && Math.abs(atMs - known.atMs) < CREDIT_KEPT_MS;
  if (stillTrue) return known.exhausted;
  const exhausted = isCreditExhausted(storage.control, db, organisationId, atMs);
  knownCredit.set(db, { controlVersion, version, atMs, exhausted });
  return exhausted;
}

/** Whether the assistant would answer a new conversation (service.md "Limits" rule 5). Test keys never spend credit. */
function isAvailable({ app, channel, organisationId }: RuntimeCaller, db: Connection, services: Services): boolean {
  if (channel === 'sandbox' || !app.settings.hardCap) return true;
  return !isExhausted(organisationId, db, services);
}

export const configRoute = defineRoute({
  method: 'GET',
  path: '/v1/apps/config',
  caller: 'runtime',
  limits: [perMinute('config', 'device', CONFIG_PER_MINUTE_PER_DEVICE), perMinute('config', 'app', CONFIG_PER_MINUTE_PER_APP)],
  body: null,
  suspended: 'app_suspended',
  handle({ caller, header }, services) {
    const db = services.storage.organisation(caller.organisationId);
    const published = readPublishedConfig(db, caller.app, caller.channel);
    const answer = renderOnce(published, caller, isAvailable(caller, db, services));
    return noneMatch(header('if-none-match'), answer.etag) ? answer.unchanged : answer.fresh;
  },
});
