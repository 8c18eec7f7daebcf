/** How a request proves that it comes from another cell, and what is then believed (CELL-5). */
import { CELL_HEADERS, type CellStatement, type ProofFault, statementOf } from '../../actors/cells/cell-proof.ts';
import type { Cells } from '../../actors/cells/cells.ts';
import type { Whereabouts } from '../../actors/cells/directory.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Exchange } from '../http/exchange.ts';

const WHY: Readonly<Record<ProofFault, string>> = {
  forged: 'This is no cell of this installation: do all cells have the same MASTER_KEY?',
  late: 'The proof of this cell is over half a minute old, or of the future: compare the clocks of the hosts.',
  repeated: 'This request of a cell came before.',
};

/** What a cell states with the request; its answer is proven, too. Undefined: a client sent it. @throws Refusal invalid_token */
function proven(exchange: Exchange, { client: { proofs } }: Cells): CellStatement | undefined {
  const token = exchange.header(CELL_HEADERS.token);
  if (token === '') return undefined;
  const statement = statementOf(exchange.method, exchange.target, exchange.header);
  const fault = proofs.fault(token, statement);
  if (fault !== 'forged')
    exchange.proof = (status, headers) => [CELL_HEADERS.proof, proofs.answer(token, status, headers[CELL_HEADERS.miss])];
  if (fault !== undefined) throw new Refusal('invalid_token', WHY[fault]);
  return statement;
}

function wrongCell({ from, to }: CellStatement, self: string): Refusal {
  const message = `Cell ${from} sent this request to cell ${to}, and it came to cell ${self}: check CELL_URL of cell ${to}.`;
  return new Refusal('internal', message, { status: 508 });
}

/** Lets another cell call the cell interface. @throws Refusal missing_token, invalid_token; not_found where there are no cells. */
export function authenticateCell(exchange: Exchange, cells: Cells | null | undefined): Cells {
  if (cells == null) throw new Refusal('not_found', 'This installation has no cells.');
  const statement = proven(exchange, cells);
  if (statement === undefined)
    throw new Refusal('missing_token', 'Only other cells call this interface, with a proof made from MASTER_KEY.');
  if (statement.to !== cells.self.id) throw wrongCell(statement, cells.self.id);
  return cells;
}

/** Undefined: a client sent the request itself. @throws Refusal invalid_token when it only says that a cell did; 508 for another cell's. */
export function arrivalOf(exchange: Exchange, cells: Cells): CellStatement | undefined {
  const arrival = proven(exchange, cells);
  if (arrival !== undefined && (arrival.to !== cells.self.id || arrival.from === cells.self.id)) throw wrongCell(arrival, cells.self.id);
  return arrival;
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
