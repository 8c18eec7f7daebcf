/**
 * What a cell asks of the one that an organisation moves to: `/cell/v1/arrivals/…` (CELL-13). Each request may be repeated.
 * Any other cell may ask how far a move is.
 */
import * as v from 'valibot';
import type { MoveReceiver } from '../../actors/cells/move-receiver.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import type { ArrivalStep } from '../../storage/moving/arrivals.ts';
import type { MoveRef } from '../../storage/moving/move-copy.ts';
import { isMoveId } from '../../storage/moving/moves.ts';
import { checkQuery } from '../http/body.ts';
import { defineRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { lastMove } from './move-wire.ts';

const moveId = v.pipe(
  v.string(),
  v.check((text) => isMoveId(text), 'must be the id of a move'),
);
const version = v.pipe(v.number(), v.integer());

const offerBody = v.object({
  move_id: moveId,
  source_cell: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  schema: v.object({ control: version, organisation: version }),
});
const moveBody = v.object({ move_id: moveId });

function arrivalsOf({ moves }: Services): MoveReceiver {
  if (moves == null) throw new Refusal('not_found', 'This cell takes no organisations.');
  return moves.arriving;
}

/** @throws Refusal not_found for what was never an organisation: it would become a path. */
function organisationOf(params: Readonly<Record<string, string>>): string {
  const id = params.org ?? '';
  if (!isId('org', id)) throw new Refusal('not_found', 'The path names no organisation.');
  return id;
}

/** POST of one step of a move, from the cell that the organisation leaves. `work` gets the checked body. */
function stepRoute<Body extends { readonly move_id: string }>(
  step: string,
  body: v.GenericSchema<unknown, Body>,
  work: (arrivals: MoveReceiver, ref: MoveRef, body: Body) => Promise<ArrivalStep>,
): Route {
  return defineRoute({
    method: 'POST',
    path: `/cell/v1/arrivals/:org${step}`,
    caller: 'cell',
    body,
    async handle({ params, body }, services) {
      const ref = { organisationId: organisationOf(params), moveId: body.move_id };
      return json({ step: await work(arrivalsOf(services), ref, body) });
    },
  });
}

const offerRoute = stepRoute('', offerBody, (arrivals, ref, { source_cell: sourceCell, schema }) =>
  arrivals.offer({ ...ref, sourceCell, schema }),
);
const unsealRoute = stepRoute('/unseal', moveBody, (arrivals, ref) => arrivals.unseal(ref));
const discardRoute = stepRoute('/discard', moveBody, (arrivals, ref) => arrivals.discard(ref));

const adoptRoute = defineRoute({
  method: 'PUT',
  path: '/cell/v1/arrivals/:org',
  caller: 'cell',
  streamed: true,
  async handle(input, services) {
    const ref = { organisationId: organisationOf(input.params), moveId: checkQuery(moveBody, input.query).move_id };
    return json({ step: await arrivalsOf(services).adopt(ref, input.stream()) });
  },
});

const moveRoute = defineRoute({
  method: 'GET',
  path: '/cell/v1/moves/:org',
  caller: 'cell',
  handle({ params }, { moves }) {
    return json({ move: moves == null ? null : lastMove(organisationOf(params), moves) });
  },
});

export const arrivalRoutes: readonly Route[] = [moveRoute, offerRoute, adoptRoute, unsealRoute, discardRoute];
