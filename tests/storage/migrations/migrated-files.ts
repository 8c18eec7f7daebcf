/** Migrated files for tests that run transactions directly, and an organisation with one app in them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { type AppRecord, transactions as apps, readApp } from '../../../storage/apps/apps.ts';
import { controlMigrations } from '../../../storage/migrations/control.ts';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { organisationMigrations } from '../../../storage/migrations/organisation.ts';
import { transactions as organisations } from '../../../storage/organisations/organisations.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export interface Files {
  readonly control: Connection;
  /** The organisation's file, named by its id. */
  readonly db: Connection;
  readonly organisationId: string;
}

export function openFiles(t: TestContext, nowMs: number): Files {
  const dir = temporaryDir(t);
  const organisationId = mintId('org', nowMs);
  const control = openWriter(join(dir, 'control.sqlite'));
  const db = openWriter(join(dir, `${organisationId}.sqlite`));
  migrate(control, controlMigrations, 'control');
  migrate(db, organisationMigrations, 'organisation');
  t.after(() => {
    control.close();
    db.close();
  });
  const autoTopUp = { enabled: false, amount_usd: 10 };
  organisations.createOrganisation(control, { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs });
  return { control, db, organisationId };
}

/** Creates an app in both files, in the order that the console does; returns its id. */
export function addApp({ control, db, organisationId }: Files, name: string, nowMs: number): string {
  const appId = mintId('app', nowMs);
  organisations.registerApp(control, { organisationId, appId, keys: [], nowMs });
  apps.createApp(db, { appId, organisationId, name, platformHint: '', settings: {}, sealedIdentitySecret: Buffer.from('sealed'), nowMs });
  return appId;
}

export function known(db: Connection, appId: string): AppRecord {
  const app = readApp(db, appId);
  assert.ok(app !== undefined);
  return app;
}

/** The same files with one app in them. */
export function openApp(t: TestContext, nowMs: number): Files & { readonly appId: string } {
  const files = openFiles(t, nowMs);
  return { ...files, appId: addApp(files, 'Shop', nowMs) };
}
