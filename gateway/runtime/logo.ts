/** GET /v1/apps/logo (CONFIG-4): the published logo for a live key, the draft's for a test key. */
import { Refusal } from '../../protocol/errors.ts';
import { CONFIG_KEPT_PER_ADDRESS, CONFIG_PER_MINUTE_PER_APP, CONFIG_PER_MINUTE_PER_DEVICE } from '../../protocol/limits.ts';
import { type Asset, readAsset } from '../../storage/apps/assets.ts';
import { readPublishedConfig } from '../../storage/apps/drafts.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { etagOf } from '../http/etag.ts';
import { perMinute } from '../rate-limit.ts';
import { runtimeRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { sharedPool } from './pools.ts';

/** Somebody has to put the image back, which takes longer than this. */
const RETRY_AFTER_S = 30;

function logoAssetId(config: Readonly<Record<string, unknown>>): string | undefined {
  const { theme } = config as { theme?: { logoAssetId?: string } };
  return theme?.logoAssetId;
}

/** @throws Refusal 503 logo_unavailable when the image that the theme names is gone or cannot be read. */
function requireImage(db: Connection, appId: string, assetId: string, { log }: Services): Asset {
  let asset: Asset | undefined;
  try {
    asset = readAsset(db, appId, assetId);
  } catch (error) {
    log.error({ err: error, app_id: appId, asset_id: assetId }, 'reading a logo failed: clients show the app without it');
  }
  if (asset !== undefined) return asset;
  throw new Refusal('logo_unavailable', 'The logo cannot be served now. Show the app without it and ask again later.', {
    retryAfterS: RETRY_AFTER_S,
  });
}

export const logoRoute = runtimeRoute('GET', '/v1/apps/logo', {
  limits: [
    perMinute('logo', 'device', CONFIG_PER_MINUTE_PER_DEVICE),
    sharedPool('logo', CONFIG_PER_MINUTE_PER_APP, CONFIG_KEPT_PER_ADDRESS),
  ],
  suspended: 'app_suspended',
  handle({ caller }, services) {
    const db = services.storage.organisation(caller.organisationId);
    const assetId = logoAssetId(readPublishedConfig(db, caller.app, caller.channel).config);
    if (assetId === undefined) throw new Refusal('no_logo', 'This app has no logo. Show its name instead.');
    const { mediaType, content } = requireImage(db, caller.app.id, assetId, services);
    return {
      kind: 'bytes',
      status: 200,
      body: content,
      headers: {
        'Content-Type': mediaType,
        // An image with this id never changes.
        ETag: etagOf(assetId),
        'Cache-Control': 'private, no-cache',
        // Logos are encoded anew and no page; the sandbox denies scripts and an origin whatever a browser takes one for.
        'Content-Security-Policy': 'sandbox',
        'X-Content-Type-Options': 'nosniff',
      },
    };
  },
});
