/** How a request proves that it comes from another cell, and the headers that are then believed (CELL-5). */
import type { Cells } from '../../actors/cells/cells.ts';
import type { Whereabouts } from '../../actors/cells/directory.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isSecret } from '../../storage/secrets/vault.ts';
import { bearerOf } from '../http/request-headers.ts';

/** Headers from cell to cell. A client's own are never passed on. */
export const CELL_HEADERS = {
  /** Makes the others trusted. Not `Authorization`, which is the client's own. */
  token: 'x-service-cell-token',
  /** `<from> <to>`: which cell passes the request on, and to which one it means to. */
  relay: 'x-service-cell-relay',
  organisation: 'x-service-cell-organisation',
  clientAddress: 'x-service-cell-client',
  clientHost: 'x-service-cell-host',
  /** In an answer: the organisation is not here. `<cell> <version>` of where it is, or `-`. */
  miss: 'x-service-cell-miss',
} as const;

export const CELL_HEADER_PREFIX = 'x-service-cell';

type ReadHeader = (name: string) => string;

function notOfThis(): Refusal {
  return new Refusal('invalid_token', 'This is no cell of this installation: do all cells have the same MASTER_KEY?');
}

/** Lets another cell call the cell interface. @throws Refusal missing_token, invalid_token; not_found where there are no cells. */
export function authenticateCell(header: ReadHeader, cells: Cells | null | undefined): Cells {
  if (cells == null) throw new Refusal('not_found', 'This installation has no cells.');
  const token = bearerOf(header('authorization'));
  if (token === undefined) throw new Refusal('missing_token', 'Only other cells call this interface, with a bearer made from MASTER_KEY.');
  if (!isSecret(token, cells.client.token)) throw notOfThis();
  return cells;
}

export interface Arrival {
  readonly from: string;
  readonly to: string;
  readonly organisationId: string;
  readonly clientAddress: string;
  readonly clientHost: string;
}

/** Undefined: a client sent the request itself. @throws Refusal invalid_token when it only says that a cell did. */
export function arrivalOf(header: ReadHeader, cells: Cells): Arrival | undefined {
  const token = header(CELL_HEADERS.token);
  if (token === '') return undefined;
  if (!isSecret(token, cells.client.token)) throw notOfThis();
  const [from = '', to = ''] = header(CELL_HEADERS.relay).split(' ');
  return {
    from,
    to,
    organisationId: header(CELL_HEADERS.organisation),
    clientAddress: header(CELL_HEADERS.clientAddress),
    clientHost: header(CELL_HEADERS.clientHost),
  };
}

export function missHeader(whereabouts: Whereabouts | undefined): string {
  return whereabouts === undefined ? '-' : `${whereabouts.cell} ${whereabouts.version}`;
}

const MISS = /^(\S{1,64}) (\d{1,15})$/;

/** Undefined when the header names no cell. */
export function readMiss(value: string, organisationId: string): Whereabouts | undefined {
  const [, cell, version] = MISS.exec(value) ?? [];
  return cell === undefined || version === undefined ? undefined : { organisationId, cell, version: Number(version) };
}
