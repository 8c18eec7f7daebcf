/** Backup and restore on the command line; what they do is proven where they live, in tests/storage. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readOrganisation } from '../../../storage/organisations/organisations.ts';
import { openStorage } from '../../../storage/storage.ts';
import { storeApp } from '../../actors/setup/app-in-storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { cliFixture } from './fixture.ts';

const NOW = Date.UTC(2026, 10, 21);

test('RUN-30: backup and restore while the data is in use, there and back again', async (t) => {
  const { storage, organisationId } = await storeApp(t, NOW);
  const dir = temporaryDir(t);
  const target = join(dir, 'backup');
  const made = await cliFixture({ dataDir: storage.layout.dir }).run('backup', target);
  assert.equal(made.code, 0, made.stderr);
  assert.ok(made.stdout.startsWith(`${target} holds 1 organisation, `), made.stdout);
  assert.ok(existsSync(storage.layout.lastBackup), 'metrics show its time');
  const dataDir = join(dir, 'data');
  const { code, stdout, stderr } = await cliFixture({ dataDir }).run('restore', target, '--json');
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual([report.data_dir, report.organisations, report.master_key_installed], [dataDir, 1, true]);
  const restored = openStorage({ dataDir, masterKey: undefined, onFatal: () => {} });
  t.after(() => restored.close());
  assert.equal(readOrganisation(restored.control, organisationId)?.name, 'Acme');
});

test('RUN-30: a backup or restore that cannot be done is one line and exit code 1', async (t) => {
  const dir = temporaryDir(t);
  const full = join(dir, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'file'), '');
  const { run } = cliFixture({ dataDir: full });
  for (const [words, said] of [
    [['backup', full], /is not empty/],
    [['backup', join(dir, 'new')], /is no data directory of this service/],
    [['restore', join(dir, 'missing')], /missing/],
  ] as const) {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, said);
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  }
});
