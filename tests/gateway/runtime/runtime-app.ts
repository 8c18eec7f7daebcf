/** An organisation with one app in real storage, and a server that serves it. */
import type { TestContext } from 'node:test';
import type { Route } from '../../../src/gateway/route.ts';
import type { Services } from '../../../src/gateway/services.ts';
import type { AppSettingsPatch } from '../../../src/protocol/console/app-settings.ts';
import { mintId } from '../../../src/protocol/ids.ts';
import { mintKeyToken } from '../../../src/storage/organisations.ts';
import { openStorage, type Storage } from '../../../src/storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { serve, type TestServer } from '../test-server.ts';

export interface RuntimeApp extends TestServer {
  readonly storage: Storage;
  readonly organisationId: string;
  readonly appId: string;
  readonly live: string;
  readonly test: string;
  patch(patch: AppSettingsPatch): Promise<void>;
}

const DAY = Date.UTC(2026, 10, 20);

/** `more`: services that the routes need beside storage and clock. */
export async function serveApp(
  t: TestContext,
  routes: readonly Route[],
  nowMs = () => DAY,
  more: (storage: Storage) => Partial<Services> = () => ({}),
): Promise<RuntimeApp> {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, onFatal: () => {} });
  t.after(() => storage.close());
  const organisationId = mintId('org', DAY);
  const appId = mintId('app', DAY);
  await storage.writeControl('createOrganisation', {
    id: organisationId,
    name: 'Acme',
    plan: 'free',
    members: [],
    autoTopUp: { enabled: false, amount_usd: 10 },
    nowMs: DAY,
  });
  await storage.write(organisationId, 'createApp', {
    appId,
    organisationId,
    name: 'Shop',
    platformHint: 'web',
    settings: {},
    sealedIdentitySecret: storage.vault.seal('test', Buffer.from('secret')),
    nowMs: DAY,
  });
  const live = mintKeyToken('live');
  const test = mintKeyToken('sandbox');
  const keys = [
    { keyId: mintId('key', DAY), token: live, channel: 'live' as const },
    { keyId: mintId('key', DAY), token: test, channel: 'sandbox' as const },
  ];
  await storage.writeControl('registerApp', { appId, organisationId, keys, nowMs: DAY });
  const server = await serve(t, routes, { storage, nowMs, ...more(storage) });
  const patch = async (settings: AppSettingsPatch) => {
    await storage.write(organisationId, 'patchApp', { appId, organisationId, patch: settings, nowMs: DAY });
  };
  return { ...server, storage, organisationId, appId, live, test, patch };
}
