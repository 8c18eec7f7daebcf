/** Console: an app's publishable keys, which are public by design and revoked at once, and the secret that its backend signs user ids with (CONSOLE-13). */
import type { Key, Secret } from '../../protocol/console/answers.ts';
import { createKeyBody } from '../../protocol/console/apps.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type IdentitySecrets, mintIdentitySecret, readIdentitySecrets, sealIdentitySecret } from '../../storage/apps/identity-secrets.ts';
import { type KeyRecord, listKeys, mintKeyToken } from '../../storage/organisations/organisations.ts';
import { json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRead, appRoute } from './app-read.ts';

function keyToWire(key: Pick<KeyRecord, 'keyId' | 'token' | 'channel' | 'createdAtMs'>): Key {
  return {
    id: key.keyId,
    key: key.token,
    channel: key.channel === 'live' ? 'live' : 'test',
    created_at: timestamp(key.createdAtMs),
  };
}

const listKeysRoute = appRead<{ readonly keys: readonly Key[] }>('/keys', ({ app }, _, { storage }) => ({
  keys: listKeys(storage.control, app.id).map(keyToWire),
}));

const createKeyRoute = appRoute('POST', '/keys', createKeyBody, async ({ app: { id: appId, organisationId } }, { body }, services) => {
  const nowMs = services.nowMs();
  const channel = body.channel === 'live' ? 'live' : 'sandbox';
  const key = { keyId: mintId('key', nowMs), token: mintKeyToken(channel), channel } as const;
  await services.storage.writeControl('addKey', { organisationId, appId, key, nowMs });
  return json({ key: keyToWire({ ...key, createdAtMs: nowMs }) }, 201);
});

const deleteKeyRoute = appRoute('DELETE', '/keys/:key', undefined, async ({ app: { id: appId } }, { params }, services) => {
  const keyId = params.key ?? '';
  const revoked = await services.storage.writeControl('revokeKey', { appId, keyId, nowMs: services.nowMs() });
  if (!revoked) throw new Refusal('not_found', `App ${appId} has no key ${keyId}.`);
  return json({ revoked: true, id: keyId });
});

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

const readIdentitySecretRoute = appRead('/identity-secret', ({ app }, _, services) =>
  secretsToWire(secretsOf(services, app.organisationId, app.id)),
);

const rotateIdentitySecretRoute = appRoute(
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

export const keyRoutes: readonly Route[] = [
  listKeysRoute,
  createKeyRoute,
  deleteKeyRoute,
  readIdentitySecretRoute,
  rotateIdentitySecretRoute,
];
