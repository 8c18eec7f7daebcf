import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { keyCheck, PIECE_MAX_BYTES } from '../../../actors/cells/move-sender.ts';
import { SCHEMA_VERSIONS } from '../../../storage/moving/move-copy.ts';
import { openFixture } from '../../actors/cells/move-fixture.ts';

const MOVE = `mov_0000000000_00000000000001_${'0'.repeat(16)}`;
const ORGANISATION = 'org_000000000000000000000001';
const BYTES = Buffer.from('a piece');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

function form(bytes: Uint8Array, field = 'piece'): { body: Buffer; headers: Record<string, string> } {
  const head = `--x\r\nContent-Disposition: form-data; name="${field}"; filename="f"\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')]),
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
  };
}

test('CELL-13: what does not come from a cell, or is no move of an organisation, is refused', async (t) => {
  const { b } = await openFixture(t);
  const base = `${b.client.url('b')}/cell/v1/arrivals`;
  const offer = { move_id: MOVE, source_cell: 'a', key_check: keyCheck(b.storage.vault, MOVE), schema: SCHEMA_VERSIONS };
  const ask = async (path: string, body: object, token = b.client.token, method = 'POST') => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return (await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) })).status;
  };
  assert.equal(await ask(`/${ORGANISATION}`, offer, 'x'.repeat(43)), 401);
  assert.equal(await ask('/org_1', offer), 404);
  assert.equal(await ask(`/${ORGANISATION}`, { ...offer, move_id: '../../control' }), 400);
  assert.equal(await ask(`/${ORGANISATION}`, { ...offer, key_check: 'x'.repeat(43) }), 409);
  assert.equal(await ask(`/${ORGANISATION}`, { ...offer, schema: { ...SCHEMA_VERSIONS, control: SCHEMA_VERSIONS.control + 1 } }), 409);
  assert.equal(await ask(`/${ORGANISATION}/adopt`, { move_id: MOVE, manifest: SHA256 }), 404);
  assert.equal(await ask(`/${ORGANISATION}`, offer), 200);
  assert.equal(await ask(`/${ORGANISATION}/unseal`, { move_id: MOVE }), 409);
  assert.equal(await ask(`/${ORGANISATION}/adopt`, { move_id: MOVE, manifest: '../../master-key' }), 400);
  assert.equal(await ask(`/${ORGANISATION}/discard`, { move_id: MOVE.replace('01_', '02_') }), 404);
  assert.equal(await ask(`/${ORGANISATION}/discard`, { move_id: MOVE }), 200);
  assert.equal(await ask(`/${ORGANISATION}`, offer), 409);
});

test('CELL-13: a piece is kept when it is a cell’s, fits its file, and is no larger than pieces are', async (t) => {
  const { a, b } = await openFixture(t);
  const offer = { move_id: MOVE, source_cell: 'a', key_check: keyCheck(a.storage.vault, MOVE), schema: SCHEMA_VERSIONS };
  const root = `/cell/v1/arrivals/${ORGANISATION}`;
  assert.equal((await a.client.call('b', 'POST', root, offer, { timeoutMs: 5_000 })).status, 200);
  const put = async (digest: string, query: string, bytes: Uint8Array, field?: string) => {
    const { body, headers } = form(bytes, field);
    return a.client.call('b', 'PUT', `${root}/files/${digest}?move_id=${MOVE}&${query}`, body, { timeoutMs: 5_000, headers });
  };
  assert.equal((await put('..%2f..%2fcontrol.sqlite', 'size=7&offset=0', BYTES)).status, 400);
  assert.equal((await put(SHA256, 'size=6&offset=0', BYTES)).status, 400);
  assert.equal((await put(SHA256, 'size=7', BYTES)).status, 400);
  assert.equal((await put(SHA256, 'size=7&offset=0', BYTES, 'other')).status, 400);
  assert.equal((await put(SHA256, `size=${PIECE_MAX_BYTES + 1}&offset=0`, Buffer.alloc(PIECE_MAX_BYTES + 1))).status, 413);
  const missing = { move_id: MOVE, contents: [{ sha256: SHA256, size: 7 }] };
  const ask = async () => (await a.client.call('b', 'POST', `${root}/missing`, missing, { timeoutMs: 5_000 })).json;
  assert.deepEqual(await ask(), { missing: [SHA256] });
  assert.deepEqual((await put(SHA256, 'size=7&offset=0', BYTES)).json, { complete: true });
  assert.deepEqual(await ask(), { missing: [] });
  const { body, headers } = form(BYTES);
  const stranger = await fetch(`${b.client.url('b')}${root}/files/${SHA256}?move_id=${MOVE}&size=7&offset=0`, {
    method: 'PUT',
    headers,
    body: new Uint8Array(body),
  });
  assert.equal(stranger.status, 401);
});
