/** Console: the secret that an app's backend signs user ids with (CONSOLE-13). */
import type { Secret } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type IdentitySecrets, mintIdentitySecret, readIdentitySecrets, sealIdentitySecret } from '../../storage/apps/identity-secrets.ts';
import { json } from '../route.ts';
import type { Services } from '../services.ts';
import { appRead, appRoute } from './app-read.ts';

function secretsOf(services: Services, organisationId: string, appId: string): IdentitySecrets {
  const { storage } = services;
  const secrets = readIdentitySecrets(storage.organisation(organisationId), storage.vault, appId, services.nowMs());
  if (secrets === undefined) throw new Refusal('not_found', `There is no app ${appId}.`);
  return secrets;
}

function secretsToWire(secrets: IdentitySecrets): Secret {
  return {
    identity_secret: secrets.current,
    previous: secrets.previous === null ? null : { valid_until: timestamp(secrets.previous.validUntilMs) },
  };
}

export const readIdentitySecretRoute = appRead('/identity-secret', ({ app }, _, services) =>
  secretsToWire(secretsOf(services, app.organisationId, app.id)),
);

export const rotateIdentitySecretRoute = appRoute(
  'POST',
  '/identity-secret/rotate',
  undefined,
  async ({ app: { id: appId, organisationId } }, _, services) => {
    const { storage } = services;
    const sealed = sealIdentitySecret(storage.vault, appId, mintIdentitySecret());
    await storage.write(organisationId, 'rotateIdentitySecret', { appId, sealed, nowMs: services.nowMs() });
    return json(secretsToWire(secretsOf(services, organisationId, appId)));
  },
);
