/** Finds what the paths of console routes name, and makes the routes about an app. */
import type * as v from 'valibot';
import { Refusal } from '../../protocol/errors.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { type OrganisationRecord, organisationOfApp, readOrganisation } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { type BodyOf, consoleRoute, json, type Method, type Reply, type Route, type RouteInput } from '../route.ts';
import type { Services } from '../services.ts';

export function requireOrganisation(services: Services, id: string | undefined): OrganisationRecord {
  const organisation = id === undefined ? undefined : readOrganisation(services.storage.control, id);
  if (organisation === undefined) throw new Refusal('not_found', `There is no organisation ${id ?? ''}.`);
  return organisation;
}

export interface FoundApp {
  readonly app: AppRecord;
  readonly db: Connection;
}

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

/** A route at `/console/api/apps/:app` + `path`. 404 when there is no such app. */
export function appRoute<const Schema extends v.GenericSchema | undefined>(
  method: Method,
  path: string,
  body: Schema,
  handle: (found: FoundApp, input: RouteInput<BodyOf<Schema>, null>, services: Services) => Reply | Promise<Reply>,
): Route {
  return consoleRoute(method, `/apps/:app${path}`, body, (input, services) =>
    handle(requireApp(services, input.params.app), input, services),
  );
}

export function appRead<Answer = unknown>(
  path: string,
  answer: (found: FoundApp, query: URLSearchParams, services: Services) => Answer,
): Route {
  return appRoute('GET', path, undefined, (found, { query }, services) => json(answer(found, query, services)));
}
