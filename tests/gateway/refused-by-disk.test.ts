/** What requests are told when an organisation's file, or the disk, is what fails them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { defineRoute } from '../../gateway/route.ts';
import { openReadable } from '../../storage/organisations/organisation-readers.ts';
import { StorageError, type StorageErrorCode } from '../../storage/sqlite/storage-error.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
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

test('STORE-24: a read that finds the file locked, as while its log is read anew, is tried for a while, and is 503 with Retry-After', async (t) => {
  const path = join(temporaryDir(t), 'a.sqlite');
  const holder = new Database(path);
  t.after(() => holder.close());
  holder.pragma('journal_mode = WAL');
  holder.pragma('locking_mode = EXCLUSIVE');
  holder.exec('BEGIN IMMEDIATE');
  const route = defineRoute({
    method: 'GET',
    path: '/v1/x',
    caller: 'anyone',
    handle: () => assert.fail(String(openReadable(path, {}, () => assert.fail('the disk refuses nothing')))),
  });
  const { base, logged } = await serve(t, [route]);
  const startedMs = performance.now();
  const answer = await fetch(`${base}/v1/x`);
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'], await answer.text());
  assert.ok(performance.now() - startedMs > 100);
  assert.doesNotMatch(JSON.stringify(logged), /because of a bug/);
});
