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

/** A page size from the query: `fallback` when absent. @throws Refusal 400 invalid_request for anything but 1 to `max`. */
export function pageLimit(query: URLSearchParams, fallback: number, max: number): number {
  const given = query.get('limit');
  if (given === null) return fallback;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > max) throw new Refusal('invalid_request', `limit must be a whole number from 1 to ${max}.`);
  return limit;
}

/** Rows of one page of a console list. */
const PAGE_DEFAULT = 100;
const PAGE_MAX = 200;

/**
 * One page of a list: `read` gives rows after a key, `next` is the key to go on from, null on the last page.
 * @throws Refusal 400 invalid_request for a bad `limit`.
 */
export function pageOf<Item>(
  query: URLSearchParams,
  read: (after: string, limit: number) => Item[],
  keyOf: (item: Item) => string,
): { readonly items: Item[]; readonly next: string | null } {
  const limit = pageLimit(query, PAGE_DEFAULT, PAGE_MAX);
  const items = read(query.get('after') ?? '', limit);
  const last = items.at(-1);
  return { items, next: items.length === limit && last !== undefined ? keyOf(last) : null };
}
