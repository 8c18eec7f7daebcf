/** Console: moving an organisation to another cell (CONSOLE-24). */
import { CellUnreachable } from '../../actors/cells/cell-client.ts';
import { readMoveSteps } from '../../actors/traces/instances.ts';
import { moveBody } from '../../protocol/console/moves.ts';
import { Refusal } from '../../protocol/errors.ts';
import { lastMove, leavingToWire, type Moves } from '../cells/move-wire.ts';
import { consoleRoute, defineRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { traceToWire } from './traces.ts';

/** A person waits for the answer. */
const ASK_TIMEOUT_MS = 2_000;
const ASK_RETRY_AFTER_S = 2;

function movesOf({ moves }: Services): Moves {
  if (moves == null) {
    throw new Refusal('conflict', 'There is nowhere to move to: this installation has one cell. Give each cell a CELL_ID first.');
  }
  return moves;
}

/** What the cell says on which the organisation lives, for one that has nothing to do with the move. @throws Refusal internal, 503 */
async function askItsCell(organisationId: string, { cells }: Services): Promise<unknown> {
  const at = cells?.directory.whereabouts(organisationId);
  if (cells == null || at === undefined || at.cell === cells.self.id) return { move: null };
  try {
    const options = { timeoutMs: ASK_TIMEOUT_MS };
    const { status, json: said } = await cells.client.call(at.cell, 'GET', `/cell/v1/moves/${organisationId}`, undefined, options);
    if (status === 200) return said;
    throw new CellUnreachable(at.cell, `it answered ${status}`);
  } catch (error) {
    if (!(error instanceof CellUnreachable)) throw error;
    const message = `The organisation's cell ${at.cell} cannot be asked how far its move is. Send the request again in a moment.`;
    throw new Refusal('internal', message, { status: 503, retryAfterS: ASK_RETRY_AFTER_S });
  }
}

const beginMoveRoute = consoleRoute('POST', '/orgs/:org/move', moveBody, async ({ params, body }, services) => {
  const moves = movesOf(services);
  const move = await moves.leaving.begin(params.org ?? '', body.cell);
  services.log.info({ organisation_id: move.organisationId, cell: body.cell, move_id: move.moveId }, 'a move was requested on the console');
  return json({ move: leavingToWire(move, moves), pause: moves.leaving.expectedPause(move.organisationId) }, 202);
});

const readMoveRoute = defineRoute({
  method: 'GET',
  path: '/console/api/orgs/:org/move',
  caller: 'operator',
  // The cell that it leaves knows best, to the end; requests of the organisation go to the other one before that.
  anyCell: true,
  handle({ params }, services) {
    const organisationId = params.org ?? '';
    const move = lastMove(organisationId, movesOf(services));
    return move === null ? askItsCell(organisationId, services).then((said) => json(said)) : json({ move });
  },
});

/** The steps of the organisation's last move away from here: a cell keeps those that it drove. */
const readMoveTraceRoute = defineRoute({
  method: 'GET',
  path: '/console/api/orgs/:org/move/trace',
  caller: 'operator',
  anyCell: true,
  handle({ params }, services) {
    const { control } = services.storage;
    const move = movesOf(services).leaving.read(params.org ?? '');
    const trace = move === undefined ? undefined : readMoveSteps(control, move.moveId);
    if (trace === undefined) {
      throw new Refusal('not_found', 'No steps of a move away from this cell are kept. Ask the cell that the organisation left.');
    }
    return json({ traces: [traceToWire(control, trace)] });
  },
});

const abortMoveRoute = consoleRoute('POST', '/orgs/:org/move/abort', undefined, async ({ params }, services) => {
  const moves = movesOf(services);
  const move = await moves.leaving.abort(params.org ?? '');
  services.log.info({ organisation_id: move.organisationId, move_id: move.moveId }, 'a move was aborted on the console');
  return json({ move: leavingToWire(move, moves) });
});

export const moveRoutes: readonly Route[] = [beginMoveRoute, readMoveRoute, readMoveTraceRoute, abortMoveRoute];
