/** An organisation with one app in real storage, and a server that serves it. */
import type { TestContext } from 'node:test';
import type { Route } from '../../../gateway/route.ts';
import type { Services } from '../../../gateway/services.ts';
import type { AppSettingsPatch } from '../../../protocol/console/app-settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import { storeApp } from '../../actors/setup/app-in-storage.ts';
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
  const { storage, organisationId, appId, keys } = await storeApp(t, DAY);
  const server = await serve(t, routes, { storage, nowMs, ...more(storage) });
  const patch = async (settings: AppSettingsPatch) => {
    await storage.write(organisationId, 'patchApp', { appId, organisationId, patch: settings, nowMs: DAY });
  };
  return { ...server, storage, organisationId, appId, ...keys, patch };
}
