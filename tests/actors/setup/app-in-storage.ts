/** Storage of its own for a test, with one app in it. */
import type { TestContext } from 'node:test';
import type { AppSettingsPatch } from '../../../protocol/console/app-settings.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export interface StoredApp {
  readonly storage: Storage;
  readonly organisationId: string;
  readonly appId: string;
  readonly keys: { readonly live: string; readonly test: string };
}

export async function storeApp(t: TestContext, nowMs: number, settings: AppSettingsPatch = {}): Promise<StoredApp> {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: undefined, onFatal: () => {} });
  t.after(() => storage.close());
  const organisationId = 'org_000000000000000000000001';
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs });
  const { app, keys } = await createApp(storage, { organisationId, name: 'Shop', platformHint: 'web', settings, nowMs });
  return { storage, organisationId, appId: app.id, keys: { live: keys.live, test: keys.test } };
}
