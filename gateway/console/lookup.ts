/** Finds what a console path names, or says which thing is missing. */
import { Refusal } from '../../protocol/errors.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { type OrganisationRecord, organisationOfApp, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Services } from '../services.ts';

/** @throws Refusal 404 not_found naming the organisation. */
export function requireOrganisation(services: Services, id: string | undefined): OrganisationRecord {
  const organisation = id === undefined ? undefined : readOrganisation(services.storage.control, id);
  if (organisation === undefined) throw new Refusal('not_found', `There is no organisation ${id ?? ''}.`);
  return organisation;
}

export interface FoundApp {
  readonly app: AppRecord;
  /** Read-only, the file of the app's organisation. */
  readonly db: Connection;
}

/** @throws Refusal 404 not_found naming the app. */
export function requireApp(services: Services, id: string | undefined): FoundApp {
  const { storage } = services;
  const organisationId = id === undefined ? undefined : organisationOfApp(storage.control, id);
  if (id !== undefined && organisationId !== undefined) {
    const db = storage.organisation(organisationId);
    // A directory entry alone is not an app: creation was cut off, or deletion was.
    const app = readApp(db, id, organisationId);
    if (app !== undefined) return { app, db };
  }
  throw new Refusal('not_found', `There is no app ${id ?? ''}.`);
}
