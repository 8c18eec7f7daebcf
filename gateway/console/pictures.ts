/** Console: the logo that an app's draft has, and the one that a proposal would put there, as pictures (LOGO-11). */

import { pictureOf } from '../../actors/configuration/logo.ts';
import { Refusal } from '../../protocol/errors.ts';
import { readAsset } from '../../storage/apps/assets.ts';
import { readDraft } from '../../storage/apps/drafts.ts';
import { readWrite } from '../../storage/setup/proposals.ts';
import { consoleRoute } from '../route.ts';
import { appRoute } from './app-read.ts';
import { requireProposal } from './proposals.ts';

/** Logos are encoded anew and no page; the sandbox denies scripts and an origin whatever a browser takes one for. */
function picture(mediaType: string, body: Uint8Array) {
  const headers = {
    'Content-Type': mediaType,
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    'X-Content-Type-Options': 'nosniff',
  };
  return { kind: 'bytes', status: 200, body, headers } as const;
}

export const readLogoRoute = appRoute('GET', '/logo', undefined, ({ app, db }) => {
  const id = readDraft(db, app.id)?.appearance?.theme.logoAssetId;
  const asset = id === undefined ? undefined : readAsset(db, app.id, id);
  if (asset === undefined) throw new Refusal('not_found', 'The draft of this app has no logo.');
  return picture(asset.mediaType, asset.content);
});

export const readProposedLogoRoute = consoleRoute('GET', '/proposals/:proposal/logo', undefined, async ({ params }, services) => {
  const { organisationId, proposal } = requireProposal(services, params.proposal);
  const write = readWrite(services.storage.organisation(organisationId), proposal.id);
  const image = write === undefined ? undefined : await pictureOf(write, organisationId);
  if (image === undefined) throw new Refusal('not_found', `The proposal ${proposal.id} brings no logo.`);
  return picture(image.mediaType, image.bytes);
});
