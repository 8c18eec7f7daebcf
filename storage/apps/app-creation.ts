/** Creates an app across the two files it stands in: the directory (with its keys) and its organisation's own file. */
import { mintId } from '../../protocol/ids.ts';
import { mintKeyToken } from '../organisations/organisations.ts';
import type { Storage } from '../storage.ts';
import type { AppRecord, NewApp } from './apps.ts';
import { mintIdentitySecret, sealIdentitySecret } from './identity-secrets.ts';

interface CreatedApp {
  readonly app: AppRecord;
  readonly keys: { readonly live: string; readonly test: string };
}

/** The directory first: a crash in between leaves keys that lead nowhere, never an app without keys. @throws Refusal conflict. */
export async function createApp(storage: Storage, input: Omit<NewApp, 'appId' | 'sealedIdentitySecret'>): Promise<CreatedApp> {
  const { organisationId, nowMs } = input;
  const appId = mintId('app', nowMs);
  const keys = { live: mintKeyToken('live'), test: mintKeyToken('sandbox') };
  await storage.writeControl('registerApp', {
    organisationId,
    appId,
    keys: [
      { keyId: mintId('key', nowMs), token: keys.live, channel: 'live' },
      { keyId: mintId('key', nowMs), token: keys.test, channel: 'sandbox' },
    ],
    nowMs,
  });
  const sealedIdentitySecret = sealIdentitySecret(storage.vault, appId, mintIdentitySecret());
  try {
    return { app: await storage.write(organisationId, 'createApp', { ...input, appId, sealedIdentitySecret }), keys };
  } catch (error) {
    await storage.writeControl('unregisterApp', { appId });
    throw error;
  }
}
