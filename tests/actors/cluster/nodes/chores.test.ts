/** What a lost node had under way is taken up by one of the others, and everybody looks at deadlines again. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { NodeChores } from '../../../../actors/cluster/nodes/chores.ts';
import type { NodeRecord } from '../../../../actors/cluster/nodes/members.ts';
import type { Storage } from '../../../../storage/storage.ts';
import { eventually } from '../../../support/eventually.ts';

const SILENT = pino({ level: 'silent' });

/** Chores of node `self` among nodes by age, oldest first. */
function choresOf(t: TestContext, self: string, nodes: string[], times: { afterStartMs?: number; retryMs?: number } = {}) {
  const resumed: string[] = [];
  const trouble = { with: '' };
  let looks = 0;
  let lost: (node: string, how: 'silent' | 'gone', pid: number) => void = () => {};
  const alive = nodes.map((id, index) => ({ id, startedAtMs: index }) as NodeRecord);
  const chores = new NodeChores({
    storage: { layout: { organisation: (id: string) => id } } as unknown as Storage,
    members: {
      self,
      // This node first, as members list them.
      list: () => alive.toSorted((one, other) => Number(other.id === self) - Number(one.id === self)),
      onLost: (listener) => {
        lost = listener;
      },
    },
    organisationIds: async () => ['org_1', 'org_2', 'org_3'],
    async resume(id) {
      resumed.push(id);
      if (trouble.with === id) throw new Error('the disk is full');
    },
    async lookAgain() {
      looks += 1;
    },
    log: SILENT,
    times: { afterStartMs: 60_000, ...times },
  });
  t.after(() => chores.close());
  return {
    chores,
    resumed,
    trouble,
    looks: () => looks,
    lose(id: string, how: 'silent' | 'gone' = 'gone') {
      const index = alive.findIndex((node) => node.id === id);
      if (index >= 0) alive.splice(index, 1);
      lost(id, how, 1);
    },
    join: (id: string) => alive.push({ id, startedAtMs: 1_000 } as NodeRecord),
  };
}

const ALL = ['org_1', 'org_2', 'org_3'];

test('CLUSTER-19: of the nodes that are left the oldest does the chores, and each of them looks at the deadlines again', async (t) => {
  const oldest = choresOf(t, 'z~1', ['z~1', 'b~2', 'c~3']);
  const middle = choresOf(t, 'b~2', ['z~1', 'b~2', 'c~3']);
  for (const node of [oldest, middle]) node.lose('c~3', 'silent');
  await oldest.chores.run();
  assert.deepEqual([oldest.resumed.slice(0, 3), middle.resumed], [ALL, []]);
  middle.lose('z~1');
  await eventually(
    () => middle.resumed.length === 3,
    undefined,
    () => `${middle.resumed}`,
  );
  assert.deepEqual([oldest.looks(), middle.looks()], [1, 2]);
});

test('CLUSTER-19: a node that came after the loss does not keep the older one from the chores, whatever its id', async (t) => {
  const node = choresOf(t, 'm~1', ['m~1', 'x~2']);
  node.join('a~9');
  node.lose('x~2');
  await eventually(
    () => node.resumed.length === 3,
    undefined,
    () => `${node.resumed}`,
  );
});

test('CLUSTER-19: losses that come while a round waits are covered by that round', async (t) => {
  const node = choresOf(t, 'm~1', ['m~1', 'x~2', 'y~3']);
  node.lose('x~2');
  node.lose('y~3');
  node.lose('y~3');
  await node.chores.run();
  assert.deepEqual(node.resumed, ALL);
});

test('CLUSTER-19: an organisation that cannot be taken up does not hold up the others, and is tried again', async (t) => {
  const node = choresOf(t, 'm~1', ['m~1'], { retryMs: 10 });
  node.trouble.with = 'org_2';
  await node.chores.run();
  assert.deepEqual(node.resumed, ALL);
  node.trouble.with = '';
  await eventually(
    () => node.resumed.length === 4,
    undefined,
    () => `${node.resumed}`,
  );
  assert.equal(node.resumed.at(-1), 'org_2');
});

test('CLUSTER-19: a node that starts beside one that is dying looks once more soon after, if it is then the oldest', async (t) => {
  const last = choresOf(t, 'm~2', ['m~2'], { afterStartMs: 10 });
  const beside = choresOf(t, 'm~2', ['a~1', 'm~2'], { afterStartMs: 10 });
  assert.deepEqual([last.chores.alone(), beside.chores.alone()], [true, false]);
  await eventually(
    () => last.resumed.length === 3,
    undefined,
    () => `${last.resumed}`,
  );
  assert.deepEqual(beside.resumed, []);
});

test('CLUSTER-19: closed chores end after the organisation they are at', async (t) => {
  const node = choresOf(t, 'm~1', ['m~1']);
  const round = node.chores.run();
  await node.chores.close();
  await round;
  assert.ok(node.resumed.length <= 1);
});
