import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { CELL_HEADERS, statementHeaders } from '../../../actors/cells/cell-proof.ts';
import { SCHEMA_VERSIONS } from '../../../storage/moving/move-copy.ts';
import { openFixture } from '../../actors/cells/move-fixture.ts';

const MOVE = `mov_0000000000_00000000000001_${'0'.repeat(16)}`;
const ORGANISATION = 'org_000000000000000000000001';

test('CELL-13: what does not come from a cell, or is no move of an organisation, is refused', async (t) => {
  const { b } = await openFixture(t);
  const base = `${b.client.url('b')}/cell/v1/arrivals`;
  const offer = { move_id: MOVE, source_cell: 'a', schema: SCHEMA_VERSIONS };
  const ask = async (path: string, body: object | string, token?: string) => {
    const isSent = typeof body === 'string';
    const of = { method: isSent ? 'PUT' : 'POST', target: `/cell/v1/arrivals${path}`, from: 'a', to: 'b' };
    const proof = statementHeaders({ ...of, organisationId: '', clientAddress: '', clientHost: '', vouchedFor: '' }, b.client.proofs);
    const headers = {
      ...proof,
      ...(token !== undefined && { [CELL_HEADERS.token]: token }),
      'Content-Type': isSent ? 'application/octet-stream' : 'application/json',
    };
    const method = isSent ? 'PUT' : 'POST';
    return (await fetch(`${base}${path}`, { method, headers, body: isSent ? body : JSON.stringify(body) })).status;
  };
  assert.equal(await ask(`/${ORGANISATION}`, offer, 'x'.repeat(43)), 401);
  assert.equal(await ask('/org_1', offer), 404);
  assert.equal(await ask(`/${ORGANISATION}`, { ...offer, move_id: '../../control' }), 400);
  assert.equal(await ask(`/${ORGANISATION}`, { ...offer, schema: { ...SCHEMA_VERSIONS, control: SCHEMA_VERSIONS.control + 1 } }), 409);
  assert.equal(await ask(`/${ORGANISATION}?move_id=${MOVE}`, 'x'), 404);
  assert.equal(await ask(`/${ORGANISATION}`, offer), 200);
  assert.equal(await ask(`/${ORGANISATION}/unseal`, { move_id: MOVE }), 409);
  assert.equal(await ask(`/${ORGANISATION}?move_id=${MOVE}`, 'x', 'x'.repeat(43)), 401);
  assert.equal(await ask(`/${ORGANISATION}?move_id=../../control`, 'x'), 400);
  assert.equal(await ask(`/org_1?move_id=${MOVE}`, 'x'), 404);
  assert.equal(await ask(`/${ORGANISATION}?move_id=${MOVE}`, '{"path":"../../master-key","size":1}\nx'), 400);
  assert.equal(await ask(`/${ORGANISATION}?move_id=${MOVE}`, ''), 500);
  assert.deepEqual(readdirSync(b.storage.layout.movesOf(ORGANISATION)), []);
  assert.equal(await ask(`/${ORGANISATION}/discard`, { move_id: MOVE.replace('01_', '02_') }), 404);
  assert.equal(await ask(`/${ORGANISATION}/discard`, { move_id: MOVE }), 200);
  assert.equal(await ask(`/${ORGANISATION}`, offer), 409);
  assert.equal(await ask(`/${ORGANISATION}?move_id=${MOVE}`, 'x'), 409);
});
