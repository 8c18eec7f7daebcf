/** The steps that an organisation's file took after its first one, in their order. */
import type { Migration } from './migrate.ts';
import { clusterMigration } from './organisation-cluster.ts';
import { mailsMigration } from './organisation-mails.ts';
import { opinionsMigration } from './organisation-opinions.ts';
import { retrievalMigration } from './organisation-retrieval.ts';
import { runtimeMigration } from './organisation-runtime.ts';
import { setupMigration } from './organisation-setup.ts';
import { tracesMigration } from './organisation-traces.ts';

export const laterMigrations: readonly Migration[] = [
  setupMigration,
  retrievalMigration,
  runtimeMigration,
  clusterMigration,
  tracesMigration,
  opinionsMigration,
  mailsMigration,
];
