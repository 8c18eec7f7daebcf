/** What requests are told when an organisation's file, or the disk, is what fails them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineRoute } from '../../gateway/route.ts';
import { StorageError, type StorageErrorCode } from '../../storage/sqlite/storage-error.ts';
import { serve } from './test-server.ts';

const SECRET_PATH = '/srv/data/organisations/org_1.sqlite';

/** A route of each interface that fails as storage does. */
function failing(path: string) {
  return defineRoute({
    method: 'GET',
    path,
    caller: 'anyone',
    handle({ query }) {
      throw new StorageError(query.get('code') as StorageErrorCode, `${SECRET_PATH} is missing.`);
    },
  });
}

const CASES: readonly (readonly [StorageErrorCode, string])[] = [
  ['unavailable', 'organisation_unavailable'],
  ['disk_full', 'storage_unavailable'],
  ['read_only', 'storage_unavailable'],
  ['io', 'storage_unavailable'],
];

test('HTTP-20: a file that is away is 503 organisation_unavailable, a disk that takes no writes 503 storage_unavailable, on every interface', async (t) => {
  const paths = ['/v1/x', '/setup/x', '/console/api/x'];
  const { base, logged } = await serve(t, paths.map(failing));
  for (const path of paths) {
    for (const [code, wire] of CASES) {
      const answer = await fetch(`${base}${path}?code=${code}`);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.deepEqual([answer.status, error.code], [503, wire], `${path} ${code}`);
      assert.ok(Number(answer.headers.get('retry-after')) >= 5);
      const toOperators = path.startsWith('/console') && code === 'unavailable';
      assert.equal(error.message.includes(SECRET_PATH), toOperators, 'paths are for operators');
    }
  }
  assert.deepEqual(logged, [], 'the condition says it once, and not each request');
});
