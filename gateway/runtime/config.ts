/** GET /v1/apps/config (CONFIG-1). The most frequent request, so each revision is rendered once. */
import { CONFIG_KEPT_PER_ADDRESS, CONFIG_PER_MINUTE_PER_APP, CONFIG_PER_MINUTE_PER_DEVICE } from '../../protocol/limits.ts';
import type { AppConfigReply } from '../../protocol/runtime/config.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { type PublishedConfig, readPublishedConfig } from '../../storage/apps/drafts.ts';
import { isCreditExhaustedLately } from '../../storage/billing/usage.ts';
import { etagOf, noneMatch } from '../http/etag.ts';
import { perMinute } from '../rate-limit.ts';
import { type Reply, type RuntimeCaller, runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { sharedPool } from './pools.ts';

interface Rendered {
  readonly fresh: Reply;
  readonly unchanged: Reply;
  readonly etag: string;
}

/** By the record that storage keeps of a revision, so an entry lives as long as that; by channel and whether it is available. */
const rendered = new WeakMap<AppRecord, Rendered[]>();

function render(published: PublishedConfig, caller: RuntimeCaller, available: boolean): Rendered {
  const { version, config } = published;
  const channel: AppConfigReply['channel'] = caller.channel === 'live' ? 'published' : 'draft';
  const updated_at = timestamp(published.updatedAtMs);
  const require_identity = caller.app.settings.requireIdentity;
  const reply: AppConfigReply = { channel, version, updated_at, available, require_identity, config };
  // Without `updated_at`: saving a draft without a change must not make every SDK fetch it again.
  const etag = etagOf(JSON.stringify([channel, version, available, require_identity, config]));
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
  const json = { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  const answer = { kind: 'tagged', body: JSON.stringify(reply), headers: { 200: json, 304: headers } } as const;
  return { etag, fresh: { ...answer, isUnchanged: false }, unchanged: { ...answer, isUnchanged: true } };
}

function renderOnce(caller: RuntimeCaller, available: boolean, { storage }: Services): Rendered {
  const { app, channel } = caller;
  let variants = rendered.get(app);
  if (variants === undefined) {
    variants = [];
    rendered.set(app, variants);
  }
  const variant = (channel === 'live' ? 2 : 0) + (available ? 1 : 0);
  variants[variant] ??= render(readPublishedConfig(storage.organisation(caller.organisationId), app, channel), caller, available);
  return variants[variant];
}

/** Not once the credit is exhausted (LIMIT-23). Daily caps do not hide the launcher: it would come and go. Test keys never spend. */
function isAvailable({ app, channel, organisationId }: RuntimeCaller, { storage, nowMs }: Services): boolean {
  if (channel === 'sandbox' || !app.settings.hardCap) return true;
  return !isCreditExhaustedLately(storage.control, storage.organisation(organisationId), organisationId, nowMs());
}

/** Answers for addresses that ask rarely, once others have used the app's up: a hundred a second cost less than a percent of a core. */
const KEPT_TOGETHER = 10 * CONFIG_PER_MINUTE_PER_APP;
const freshPools = [sharedPool('config', CONFIG_PER_MINUTE_PER_APP, CONFIG_KEPT_PER_ADDRESS, KEPT_TOGETHER)];

export const configRoute = runtimeRoute('GET', '/v1/apps/config', {
  limits: [perMinute('config', 'device', CONFIG_PER_MINUTE_PER_DEVICE)],
  suspended: 'app_suspended',
  handle({ caller, header }, services) {
    const answer = renderOnce(caller, isAvailable(caller, services), services);
    // Costs no more than a refusal, so it is counted for the device alone.
    if (noneMatch(header('if-none-match'), answer.etag)) return answer.unchanged;
    caller.pass(freshPools, null);
    return answer.fresh;
  },
});
