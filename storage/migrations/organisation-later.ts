/** The steps that an organisation's file took after its first one, in their order. */
import type { Migration } from './migrate.ts';
import { clusterMigration } from './organisation-cluster.ts';
import { mailsMigration } from './organisation-mails.ts';
import { opinionsMigration } from './organisation-opinions.ts';
import { retrievalMigration } from './organisation-retrieval.ts';
import { runtimeMigration } from './organisation-runtime.ts';
import { setupMigration } from './organisation-setup.ts';
import { tracesMigration } from './organisation-traces.ts';

/** Whose answer to a card was recorded, by the id that the client gave its decision. */
const decisionsMigration: Migration = {
  version: 9,
  name: 'ids of decisions',
  sql: 'ALTER TABLE invocations ADD COLUMN decision_id TEXT;',
};

export const laterMigrations: readonly Migration[] = [
  setupMigration,
  retrievalMigration,
  runtimeMigration,
  clusterMigration,
  tracesMigration,
  opinionsMigration,
  mailsMigration,
  decisionsMigration,
];
