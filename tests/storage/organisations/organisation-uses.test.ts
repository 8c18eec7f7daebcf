/** What the control file says of organisations' files that nobody uses, and that it is never too little. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { dueOrganisations, spentByUnused, usersOf } from '../../../storage/organisations/organisation-uses.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const DAY = '2026-11-21';
const ORGANISATION = mintId('org', 1);

function open(t: TestContext, dataDir: string, process: string): Storage {
  const storage = openStorage({ dataDir, masterKey: undefined, shared: true, process, onFatal: assert.fail });
  t.after(() => storage.close());
  return storage;
}

function found(dueAtMs: number | null, spentMicroUsd = 0) {
  return { dueAtMs, spentDay: DAY, spentMicroUsd };
}

const write = (storage: Storage) => storage.write(ORGANISATION, 'addCredit', { amountMicroUsd: 1, nowMs: 1 });
const due = ({ control }: Storage) => dueOrganisations(control, 1_000, 10);

test('STORE-20: a file is in use before its first row is there, and not for being read', async (t) => {
  const storage = open(t, temporaryDir(t), 'a');
  storage.organisation(ORGANISATION);
  assert.deepEqual(usersOf(storage.control, ORGANISATION), []);
  const rows = () => storage.organisation(ORGANISATION).statement('SELECT count(*) AS rows FROM credit_purchases').get()?.rows;
  const control = openWriter(storage.layout.control);
  t.after(() => control.close());
  control.exec("CREATE TRIGGER unnoted BEFORE INSERT ON organisation_uses BEGIN SELECT RAISE(ABORT, 'no note of it'); END");
  await assert.rejects(write(storage), /no note of it/);
  assert.deepEqual([rows(), usersOf(storage.control, ORGANISATION)], [0, []], 'a use that cannot be noted writes nothing');
  control.exec('DROP TRIGGER unnoted');
  await write(storage);
  assert.deepEqual([rows(), usersOf(storage.control, ORGANISATION)], [1, ['a']]);
});

test('STORE-20: with the end of its use the control file says what is due in a file and what was spent, and the file is closed', async (t) => {
  const storage = open(t, temporaryDir(t), 'a');
  await write(storage);
  assert.deepEqual([due(storage), storage.quiet(60_000, 10), storage.quiet(0, 10)], [[], [], [ORGANISATION]]);
  assert.equal(await storage.endUse(ORGANISATION, () => null), false, 'work is under way');
  assert.deepEqual(usersOf(storage.control, ORGANISATION), ['a']);
  assert.equal(await storage.endUse(ORGANISATION, () => found(1_000, 7)), true);
  assert.deepEqual([usersOf(storage.control, ORGANISATION), due(storage), spentByUnused(storage.control, DAY)], [[], [ORGANISATION], 7]);
  assert.deepEqual(
    [spentByUnused(storage.control, '2026-11-22'), dueOrganisations(storage.control, 999, 10), storage.quiet(0, 10)],
    [0, [], []],
  );
  await eventually(
    () => readdirSync(storage.layout.organisations).length === 1,
    undefined,
    () => `${readdirSync(storage.layout.organisations)}`,
  );
  await write(storage);
  assert.deepEqual([usersOf(storage.control, ORGANISATION), due(storage), spentByUnused(storage.control, DAY)], [['a'], [], 0]);
});

test('STORE-20: a write that comes while a file is looked through keeps it in use', async (t) => {
  const storage = open(t, temporaryDir(t), 'a');
  await write(storage);
  const writes: Promise<unknown>[] = [];
  const hasEnded = await storage.endUse(ORGANISATION, () => {
    // It commits after the file was read.
    writes.push(write(storage));
    return found(null);
  });
  await Promise.all(writes);
  assert.deepEqual([hasEnded, usersOf(storage.control, ORGANISATION)], [false, ['a']]);
  assert.equal(await storage.endUse(ORGANISATION, () => found(null)), true);
});

test('STORE-20: no use ends while a write is under way', async (t) => {
  const storage = open(t, temporaryDir(t), 'a');
  await write(storage);
  const writing = write(storage);
  assert.equal(await storage.endUse(ORGANISATION, () => assert.fail()), false);
  await writing;
  assert.equal(await storage.endUse(ORGANISATION, () => found(null)), true);
});

test('STORE-20: what a process found is not said once others have used the file since, and nothing is due while others use it', async (t) => {
  const dataDir = temporaryDir(t);
  const [a, b] = [open(t, dataDir, 'a'), open(t, dataDir, 'b')];
  await write(a);
  await write(b);
  assert.equal(await a.endUse(ORGANISATION, () => found(1)), true);
  assert.deepEqual([usersOf(a.control, ORGANISATION), due(a)], [['b'], []], 'b will look');
  await write(a);
  // Both look at once: who is second to say what it found may have looked before the other wrote.
  const ends = await Promise.all([a, b].map((storage) => storage.endUse(ORGANISATION, () => found(null))));
  assert.deepEqual(ends.sort(), [false, true]);
  for (const storage of [a, b]) await storage.endUse(ORGANISATION, () => found(500));
  assert.deepEqual([usersOf(a.control, ORGANISATION), due(a)], [[], [ORGANISATION]]);
});
