/**
 * Decides which cell answers a request (CELL-1): this one, or the one that its organisation lives on, to which it is forwarded.
 * A forwarded request is answered here or not at all, so none travels in a circle.
 */
import { CellUnreachable } from '../../actors/cells/cell-client.ts';
import { CELL_HEADERS, type CellStatement, OPERATOR } from '../../actors/cells/cell-proof.ts';
import type { Cells } from '../../actors/cells/cells.ts';
import type { Name, Whereabouts } from '../../actors/cells/directory.ts';
import { Refusal } from '../../protocol/errors.ts';
import { authenticateOperator } from '../console/operator-session.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendRefusal } from '../http/render.ts';
import type { RateBuckets } from '../rate-limit.ts';
import type { Route } from '../route.ts';
import type { Services } from '../services.ts';
import { arrivalOf, missHeader } from './access.ts';
import { organisationOfName } from './organisation-lookup.ts';
import { BufferedBody, isPassable, type Passage, relay } from './relay.ts';
import { nameOf } from './routing-key.ts';

/** Long enough for a cell to come back behind its address. */
const UNREACHABLE_RETRY_AFTER_S = 2;
const MOVED_RETRY_AFTER_S = 1;

/** A request before it is known which cell answers it. `serve` answers it here; `fail` sends the error that was thrown. */
export interface ForwardableRequest {
  readonly route: Route;
  readonly exchange: Exchange;
  readonly services: Services;
  readonly cells: Cells;
  readonly buckets: RateBuckets;
  serve(): void;
  fail(error: unknown): void;
}

/** Serves the request or forwards it; asks other cells where its organisation lives if that is not known. Errors go to `fail`. */
export function serveOrForward(request: ForwardableRequest): void {
  const { route, exchange, services, cells, buckets } = request;
  const arrival = arrivalOf(exchange, cells);
  if (arrival !== undefined) {
    arrive(request, arrival);
    return;
  }
  const name = nameOf(route, exchange);
  if (name === undefined) {
    request.serve();
    return;
  }
  // Other cells are asked only for requests that proved themselves; all cells have the same operator.
  if (route.caller === 'operator') {
    if (exchange.header('authorization') !== '') buckets.refuseGuesses('operator', exchange.address);
    authenticateOperator(exchange.header, exchange.method, services);
  }
  const { directory } = cells;
  const organisationId = organisationOfName(services.storage, directory.self, name);
  const at = organisationId === undefined ? directory.foreign(name) : directory.whereabouts(organisationId);
  if (at?.cell === directory.self || (at === undefined && directory.isUnknown(name))) {
    request.serve();
    return;
  }
  if (at === undefined && route.caller !== 'operator') buckets.refuseGuesses('name', exchange.address);
  forward(request, name, at);
}

/** Serves a request that another cell forwarded. */
function arrive({ exchange, services, cells, serve }: ForwardableRequest, arrival: CellStatement): void {
  const { directory } = cells;
  const { from, organisationId, vouchedFor } = arrival;
  const at = directory.whereabouts(organisationId);
  services.log.debug({ request_id: exchange.requestId, from, organisation_id: organisationId }, 'received a request from another cell');
  if (at?.cell === directory.self) {
    exchange.comesFrom(arrival.clientAddress, arrival.clientHost, vouchedFor === OPERATOR);
    serve();
    return;
  }
  const refusal = new Refusal('internal', `The organisation is not on cell ${directory.self}.`, { status: 421 });
  sendRefusal(exchange, refusal, { [CELL_HEADERS.miss]: missHeader(at) });
}

function forward(request: ForwardableRequest, name: Name, at: Whereabouts | undefined): void {
  const { exchange, route } = request;
  const { target } = exchange;
  const headers = exchange.headerLines();
  if (!isPassable(target, headers)) {
    const message = 'The request has more headers, or longer ones, than can be passed on to the cell of its organisation. Send fewer.';
    throw new Refusal('invalid_request', message, { status: 431 });
  }
  exchange.detach();
  const body = exchange.method === 'GET' ? null : new BufferedBody(exchange);
  findAndRelay(request, { exchange, target, headers, isOperator: route.caller === 'operator', body }, name, at).catch(request.fail);
}

async function findAndRelay(request: ForwardableRequest, passage: Passage, name: Name, known: Whereabouts | undefined): Promise<void> {
  const { route, exchange, cells, serve, buckets } = request;
  const at = known ?? (await cells.directory.ask(name));
  if (at === undefined && route.caller !== 'operator') buckets.failed('name', exchange.address);
  if (!exchange.open) return;
  if (at === undefined || at.cell === cells.self.id) {
    serve();
    passage.body?.giveBack();
    return;
  }
  const first = await passOn(request, passage, at);
  if (first.kind === 'answered' || !exchange.open) return;
  const better = await cells.directory.askAgain(name, at, first.told);
  if (!exchange.open) return;
  if (better !== undefined) {
    const second = await passOn(request, passage, better);
    if (second.kind === 'answered') return;
  }
  const message = 'The organisation has just moved to another cell, or its place is not known yet. Send the request again.';
  throw new Refusal('internal', message, { status: 503, retryAfterS: MOVED_RETRY_AFTER_S });
}

/** @throws Refusal internal, 503, when the cell cannot be reached. */
async function passOn({ exchange, services, cells }: ForwardableRequest, passage: Passage, at: Whereabouts) {
  const context = { request_id: exchange.requestId, cell: at.cell, organisation_id: at.organisationId };
  services.log.debug(context, 'relaying a request to another cell');
  try {
    const passed = await relay(passage, at, cells);
    services.storage.conditions.close('cell_away', at.cell);
    return passed;
  } catch (error) {
    if (!(error instanceof CellUnreachable)) throw error;
    services.storage.conditions.open('cell_away', `Cell ${at.cell} cannot be reached: its organisations are answered 503 here.`, at.cell);
    services.log.warn({ ...context, err: error }, 'a cell cannot be reached: its requests are answered 503 here');
    const message = `The organisation's cell ${at.cell} cannot be reached. Send the request again in a moment.`;
    throw new Refusal('internal', message, { status: 503, retryAfterS: UNREACHABLE_RETRY_AFTER_S });
  }
}
