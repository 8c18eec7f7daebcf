import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { WriteLease } from '../../../storage/sqlite/write-lease.ts';
import { openStorage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const TERM_MS = 10_000;

test('CELL-17: a lease holds by both clocks: one that jumps, and one that stood still, end it', () => {
  const moment = fc.nat(100_000);
  fc.assert(
    fc.property(moment, moment, fc.nat(20_000), fc.nat(20_000), (wallMs, steadyMs, wallLater, steadyLater) => {
      let now = { wallMs, steadyMs };
      const lease = new WriteLease(undefined, () => now);
      assert.equal(lease.holds, false, 'a new one has run out');
      lease.extend(now, TERM_MS);
      now = { wallMs: wallMs + wallLater, steadyMs: steadyMs + steadyLater };
      assert.equal(lease.holds, wallLater < TERM_MS && steadyLater < TERM_MS);
      assert.equal(new WriteLease(lease.buffer, () => now).holds, lease.holds, 'as the writer thread sees it');
      lease.extend(now, TERM_MS);
      assert.equal(lease.holds, true);
      lease.end();
      assert.equal(lease.holds, false);
    }),
  );
});

test('CELL-17: nothing is written without the lease, and rows stay readable', async (t) => {
  const lease = new WriteLease();
  const dataDir = temporaryDir(t);
  const storage = openStorage({ dataDir, masterKey: undefined, lease, onFatal: (error) => assert.fail(error) });
  t.after(() => storage.close());
  const note = (value: string) => storage.writeControl('noteCell', { cell: value, replica: '', nowMs: 1 });
  const refused = { name: 'StorageError', code: 'fenced' };
  await assert.rejects(note('early'), refused);
  lease.extend(lease.now(), TERM_MS);
  await note('kept');
  lease.end();
  await assert.rejects(note('late'), refused);
  assert.deepEqual(storage.control.statement('SELECT cell FROM cell_term').all(), [{ cell: 'kept' }]);
});
