/**
 * What a cell asks of the one that an organisation moves to: `/cell/v1/arrivals/…` (CELL-13). Each request may be repeated.
 * Any other cell may ask how far a move is.
 */
import * as v from 'valibot';
import type { MoveReceiver } from '../../actors/cells/move-receiver.ts';
import { CONTENTS_PER_QUESTION_MAX, PIECE_MAX_BYTES } from '../../actors/cells/move-sender.ts';
import { Refusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import { isSha256 } from '../../storage/moving/move-folders.ts';
import { isMoveId } from '../../storage/moving/moves.ts';
import { checkQuery } from '../http/body.ts';
import { defineRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { lastMove } from './move-wire.ts';

const moveId = v.pipe(
  v.string(),
  v.check((text) => isMoveId(text), 'must be the id of a move'),
);
const sha256 = v.pipe(
  v.string(),
  v.check((text) => isSha256(text), 'must be a SHA-256 in hex'),
);
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const bytesInQuery = v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'must be a number of bytes'), v.transform(Number));
const version = v.pipe(v.number(), v.integer());

const offerBody = v.object({
  move_id: moveId,
  source_cell: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  key_check: v.pipe(v.string(), v.maxLength(100)),
  schema: v.object({ control: version, organisation: version }),
});
const moveBody = v.object({ move_id: moveId });
const missingBody = v.object({
  move_id: moveId,
  contents: v.pipe(v.array(v.object({ sha256, size: bytes })), v.maxLength(CONTENTS_PER_QUESTION_MAX)),
});
const adoptBody = v.object({ move_id: moveId, manifest: sha256 });
const pieceQuery = v.object({ move_id: moveId, size: bytesInQuery, offset: bytesInQuery });

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
  work: (arrivals: MoveReceiver, ref: { organisationId: string; moveId: string }, body: Body) => Promise<object>,
): Route {
  return defineRoute({
    method: 'POST',
    path: `/cell/v1/arrivals/:org${step}`,
    caller: 'cell',
    body,
    async handle({ params, body }, services) {
      const ref = { organisationId: organisationOf(params), moveId: body.move_id };
      return json(await work(arrivalsOf(services), ref, body));
    },
  });
}

const offerRoute = stepRoute('', offerBody, async (arrivals, ref, { source_cell: sourceCell, key_check: keyCheck, schema }) => ({
  step: await arrivals.offer({ ...ref, sourceCell, keyCheck, schema }),
}));
const missingRoute = stepRoute('/missing', missingBody, async (arrivals, ref, { contents }) => ({
  missing: await arrivals.missing(ref, contents),
}));
const adoptRoute = stepRoute('/adopt', adoptBody, async (arrivals, ref, { manifest }) => ({ step: await arrivals.adopt(ref, manifest) }));
const unsealRoute = stepRoute('/unseal', moveBody, async (arrivals, ref) => ({ step: await arrivals.unseal(ref) }));
const discardRoute = stepRoute('/discard', moveBody, async (arrivals, ref) => ({ step: await arrivals.discard(ref) }));

const fileRoute = defineRoute({
  method: 'PUT',
  path: '/cell/v1/arrivals/:org/files/:sha256',
  caller: 'cell',
  upload: { field: 'piece', maxBytes: PIECE_MAX_BYTES },
  async handle({ params, query, upload }, services) {
    const organisationId = organisationOf(params);
    const digest = params.sha256 ?? '';
    if (!isSha256(digest)) throw new Refusal('invalid_request', 'The path must end with a SHA-256 in hex.');
    const { move_id, size, offset } = checkQuery(pieceQuery, query);
    if (offset + upload.bytes.length > size) throw new Refusal('invalid_request', 'The piece is longer than what is left of the file.');
    const complete = await arrivalsOf(services).keep({ organisationId, moveId: move_id }, { sha256: digest, size }, offset, upload.bytes);
    return json({ complete });
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

export const arrivalRoutes: readonly Route[] = [moveRoute, offerRoute, missingRoute, fileRoute, adoptRoute, unsealRoute, discardRoute];
