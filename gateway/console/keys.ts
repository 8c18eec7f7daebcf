/** Console: an app's publishable keys. Public by design, so they can be read again; a deleted one is revoked at once. */
import type { Key } from '../../protocol/console/answers.ts';
import { createKeyBody } from '../../protocol/console/apps.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type KeyRecord, listKeys, mintKeyToken } from '../../storage/organisations/organisations.ts';
import { json } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';

function keyToWire(key: Pick<KeyRecord, 'keyId' | 'token' | 'channel' | 'createdAtMs'>): Key {
  return {
    id: key.keyId,
    key: key.token,
    channel: key.channel === 'live' ? 'live' : 'test',
    created_at: timestamp(key.createdAtMs),
  };
}

export const listKeysRoute = appRead<{ readonly keys: readonly Key[] }>('/keys', ({ app }, _, { storage }) => ({
  keys: listKeys(storage.control, app.id).map(keyToWire),
}));

export const createKeyRoute = appRoute(
  'POST',
  '/keys',
  createKeyBody,
  async ({ app: { id: appId, organisationId } }, { body }, services) => {
    const nowMs = services.nowMs();
    const channel = body.channel === 'live' ? 'live' : 'sandbox';
    const key = { keyId: mintId('key', nowMs), token: mintKeyToken(channel), channel } as const;
    await services.storage.writeControl('addKey', { organisationId, appId, key, nowMs });
    return json({ key: keyToWire({ ...key, createdAtMs: nowMs }) }, 201);
  },
);

export const deleteKeyRoute = appRoute('DELETE', '/keys/:key', undefined, async ({ app: { id: appId } }, { params }, services) => {
  const keyId = params.key ?? '';
  const revoked = await services.storage.writeControl('revokeKey', { appId, keyId, nowMs: services.nowMs() });
  if (!revoked) throw new Refusal('not_found', `App ${appId} has no key ${keyId}.`);
  return json({ revoked: true, id: keyId });
});
