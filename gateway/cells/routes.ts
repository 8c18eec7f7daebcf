/** What cells ask of each other: `/cell/v1/…` (CELL-5). */
import { openName } from '../../actors/cells/directory.ts';
import { Refusal } from '../../protocol/errors.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { organisationOfName } from './organisation-lookup.ts';

/** The name in the path is sealed: it may be a key or a token. */
const nameRoute = defineRoute({
  method: 'GET',
  path: '/cell/v1/names/:name',
  caller: 'cell',
  handle({ params, caller: { directory } }, { storage }) {
    const name = openName(storage.vault, params.name ?? '');
    if (name === undefined) throw new Refusal('invalid_request', 'The name was not sealed by a cell of this installation.');
    const organisationId = organisationOfName(storage, directory.self, name);
    const at = organisationId === undefined ? undefined : directory.whereabouts(organisationId);
    if (at === undefined) throw new Refusal('not_found', 'This cell does not know the name.');
    return json({ organisation_id: at.organisationId, cell: at.cell, version: at.version });
  },
});

/** Whether the cell is there, and which one it is. */
const aboutRoute = defineRoute({
  method: 'GET',
  path: '/cell/v1/about',
  caller: 'cell',
  handle({ caller: { self } }) {
    return json({ cell: self.id });
  },
});

export const cellRoutes: readonly Route[] = [nameRoute, aboutRoute];
