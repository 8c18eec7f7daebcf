import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { mintId } from '../../protocol/ids.ts';
import { dataLayout, prepareDataDir } from '../../storage/data-layout.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('STORE-8: folders of the data directory are created for their owner only, also when one was there before', (t) => {
  const dir = join(temporaryDir(t), 'deep', 'data');
  mkdirSync(join(dir, 'uploads'), { recursive: true, mode: 0o755 });
  prepareDataDir(dir);
  const layout = prepareDataDir(dir);
  for (const folder of [layout.dir, layout.organisations, layout.uploads, layout.outbox]) {
    assert.equal(statSync(folder).mode & 0o777, 0o700, folder);
  }
});

test('STORE-8: an organisation has one file, named by its id', () => {
  const layout = dataLayout('data');
  const id = mintId('org', 1_000);
  assert.ok(isAbsolute(layout.organisation(id)));
  assert.ok(layout.organisation(id).endsWith(join('data', 'organisations', `${id}.sqlite`)));
});

test('STORE-8: whatever is no organisation id never becomes a path', () => {
  const layout = dataLayout('/data');
  const nearMiss = fc.constantFrom(
    '../control',
    'org_',
    `${mintId('org', 1)}/x`,
    `${mintId('org', 1)}\n`,
    mintId('app', 1),
    `${mintId('org', 1)}\0`,
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), nearMiss), (text) => {
      assert.throws(() => layout.organisation(text), /not an organisation id/);
    }),
  );
});
