/** Which organisations' files are looked through, by whom and when, and which are left alone. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { OrganisationUpkeep, type UpkeepServices } from '../../actors/organisation-upkeep.ts';
import { mintId } from '../../protocol/ids.ts';
import { dueOrganisations, NOBODY, organisationsUsedBy, usersOf } from '../../storage/organisations/organisation-uses.ts';
import { openStorage, type Storage } from '../../storage/storage.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const NOW = Date.UTC(2026, 10, 21);
const [FIRST, SECOND, THIRD] = [mintId('org', 1), mintId('org', 2), mintId('org', 3)];

interface Node {
  readonly storage: Storage;
  readonly upkeep: OrganisationUpkeep;
  readonly resumed: string[];
  readonly forgotten: string[];
  readonly learnt: string[];
  readonly tidied: string[];
  /** In the test's hand. */
  readonly state: { nowMs: number; next: number | null; isUnfinished: boolean; fails: string };
}

function node(t: TestContext, dataDir: string, process: string, liveness: UpkeepServices['liveness'] = async () => 'gone'): Node {
  const storage = openStorage({ dataDir, masterKey: undefined, shared: true, process, onFatal: assert.fail });
  const [resumed, forgotten, learnt, tidied]: string[][] = [[], [], [], []];
  const state = { nowMs: NOW, next: null as number | null, isUnfinished: false, fails: '' };
  const upkeep = new OrganisationUpkeep({
    ...{ storage, liveness, log: pino({ level: 'silent' }), nowMs: () => state.nowMs },
    async resume(id) {
      if (id === state.fails) throw new Error('its file is damaged');
      resumed?.push(id);
    },
    learn: (id) => void learnt?.push(id),
    forget: (id) => void forgotten?.push(id),
    isUnfinished: () => state.isUnfinished,
    tidy: async (id) => void tidied?.push(id),
    next: () => state.next,
    times: { roundMs: 10, quietMs: 0 },
  });
  t.after(async () => {
    await upkeep.close();
    await storage.close();
  });
  return { storage, upkeep, resumed: resumed ?? [], forgotten: forgotten ?? [], learnt: learnt ?? [], tidied: tidied ?? [], state };
}

const write = ({ storage }: Node, id: string) => storage.write(id, 'addCredit', { amountMicroUsd: 1, nowMs: NOW });

test('STORE-20: exactly the files that a process used when it ended are looked through by the next one', async (t) => {
  const dataDir = temporaryDir(t);
  const before = node(t, dataDir, 'before');
  for (const id of [FIRST, SECOND, THIRD]) await write(before, id);
  assert.equal(await before.storage.endUse(SECOND, () => ({ dueAtMs: null, spentDay: '', spentMicroUsd: 0 })), true);
  const after = node(t, dataDir, 'after');
  after.upkeep.begin(true);
  await eventually(() => after.resumed.length === 2);
  await eventually(() => organisationsUsedBy(after.storage.control, 'before').length === 0);
  assert.deepEqual(after.resumed, [FIRST, THIRD]);
  // Nothing is under way in them: they come out of use.
  await eventually(() => organisationsUsedBy(after.storage.control, 'after').length === 0);
  assert.deepEqual(after.forgotten.sort(), [FIRST, THIRD]);
  assert.deepEqual(after.tidied.sort(), [FIRST, THIRD], 'they are brought in order before they are closed');
});

test('STORE-20: a file that nobody uses is looked through when something in it is due, and not before', async (t) => {
  const it = node(t, temporaryDir(t), 'a');
  await write(it, FIRST);
  it.state.next = NOW + 1;
  await it.upkeep.round();
  assert.deepEqual([usersOf(it.storage.control, FIRST), it.resumed], [[], []]);
  assert.deepEqual(dueOrganisations(it.storage.control, NOW + 1, 10), [FIRST]);
  await it.upkeep.round();
  assert.deepEqual(it.resumed, []);
  it.state.nowMs += 1;
  await it.upkeep.round();
  assert.deepEqual([it.resumed, usersOf(it.storage.control, FIRST)], [[FIRST], ['a']], 'what is due is minded here');
  await it.upkeep.round();
  assert.deepEqual([it.resumed, usersOf(it.storage.control, FIRST)], [[FIRST], ['a']], 'until it was done');
  it.state.next = null;
  await it.upkeep.round();
  assert.deepEqual([usersOf(it.storage.control, FIRST), it.forgotten], [[], [FIRST, FIRST]]);
});

test('STORE-20: a file stays in use while work is under way in it', async (t) => {
  const it = node(t, temporaryDir(t), 'a');
  await write(it, FIRST);
  it.state.isUnfinished = true;
  await it.upkeep.round();
  assert.deepEqual([usersOf(it.storage.control, FIRST), it.forgotten], [['a'], []]);
  it.state.isUnfinished = false;
  await it.upkeep.round();
  assert.deepEqual([usersOf(it.storage.control, FIRST), it.forgotten], [[], [FIRST]]);
});

test('STORE-20: when a use does not end because of a write meanwhile, deadlines are learnt again', async (t) => {
  const it = node(t, temporaryDir(t), 'a');
  await write(it, FIRST);
  const { control } = it.storage;
  const end = it.storage.endUse.bind(it.storage);
  let writing: Promise<unknown> | undefined;
  it.storage.endUse = (id, lookThrough) =>
    end(id, (db) => {
      writing = write(it, FIRST);
      return lookThrough(db);
    });
  await it.upkeep.round();
  await writing;
  assert.deepEqual([usersOf(control, FIRST), it.forgotten, it.learnt], [['a'], [FIRST], [FIRST]]);
});

test('STORE-20, CLUSTER-19: what a silent node uses is looked through and stays noted; what a live one uses is left alone', async (t) => {
  const dataDir = temporaryDir(t);
  const [silent, alive, gone] = ['silent', 'alive', 'gone'].map((process) => node(t, dataDir, process)) as [Node, Node, Node];
  await write(silent, FIRST);
  await write(alive, SECOND);
  await write(gone, THIRD);
  const it = node(t, dataDir, 'a', async (process) => process as 'silent' | 'alive' | 'gone');
  assert.deepEqual((await it.upkeep.left()).sort(), [FIRST, THIRD]);
  for (const id of await it.upkeep.left()) await it.upkeep.lookThrough(id);
  assert.deepEqual(it.resumed.sort(), [FIRST, THIRD]);
  assert.deepEqual(
    [FIRST, SECOND, THIRD].map((id) => usersOf(it.storage.control, id)),
    [['a', 'silent'], ['alive'], ['a']],
  );
});

test('STORE-20: a file that cannot be looked through is tried again and keeps no other from its turn', async (t) => {
  const dataDir = temporaryDir(t);
  const before = node(t, dataDir, 'before');
  for (const id of [FIRST, SECOND]) await before.storage.use(id);
  const it = node(t, dataDir, 'a');
  it.state.fails = FIRST;
  await it.storage.writeControl('beginUse', { organisationId: FIRST, usedBy: NOBODY });
  await it.storage.writeControl('beginUse', { organisationId: SECOND, usedBy: NOBODY });
  await it.upkeep.round();
  assert.deepEqual([it.resumed, organisationsUsedBy(it.storage.control, NOBODY)], [[SECOND], [FIRST]]);
  it.state.fails = '';
  await eventually(() => it.resumed.includes(FIRST));
  await eventually(() => organisationsUsedBy(it.storage.control, NOBODY).length === 0);
});
