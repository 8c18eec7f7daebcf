/** What an actor knows of the epoch of its conversation, held against the row that another one may have written meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldEpoch, OwnedElsewhere, type Ownership, snapshotOf } from '../../../actors/turns/epoch.ts';
import { readConversation } from '../../../storage/conversations/conversations.ts';
import { readToEnd, ScriptedModel, turnsWorld, type World } from './world.ts';

const ALONE: Ownership = { self: 'here', process: 'here', isLost: () => true, mayTake: () => true };

/** A conversation in which `there` has answered, and its row. */
async function conversation(world: World) {
  const there = world.node('there', new ScriptedModel(() => ({ text: 'Hello.' })));
  const said = await there.accept(world.command({ message: { text: 'Hello' } }));
  await readToEnd(said.position);
  const id = said.conversationId;
  const row = () => {
    const found = readConversation(world.db, id);
    assert.ok(found !== undefined);
    return found;
  };
  const sayMore = async () => {
    await readToEnd((await there.accept(world.command({ conversation_id: id, message: { text: 'And?' } }))).position);
  };
  return { id, row, sayMore };
}

test('CLUSTER-4: a new conversation is written at epoch 1, and stays new when nobody knows whether that was committed', async (t) => {
  const { db } = await turnsWorld(t);
  const epoch = new HeldEpoch('cnv_new', { state: 'new' }, db, ALONE);
  for (const lost of [false, true]) {
    if (lost) epoch.lose();
    assert.deepEqual(epoch.openingFence(), { expectedEpoch: null, epoch: 1, owner: 'here' });
    assert.deepEqual([epoch.isNew, epoch.isClean, epoch.isTaken, epoch.placeholders], [true, true, false, 0]);
  }
  epoch.wrote(1);
  assert.deepEqual([epoch.isNew, epoch.isClean], [false, true]);
  assert.deepEqual(epoch.fence(), { expectedEpoch: 1, epoch: 1, owner: 'here' });
});

test('CLUSTER-4: an actor that knows nothing takes the next epoch of the row, and only the opening of a turn makes one of its own', async (t) => {
  const world = await turnsWorld(t);
  const { id, row } = await conversation(world);
  const epoch = new HeldEpoch(id, { state: 'unknown' }, world.db, ALONE);
  const before = row().epoch;
  assert.deepEqual(epoch.fence(), { expectedEpoch: before, epoch: before + 1, owner: 'here' });
  assert.equal(epoch.isClean, false, 'what a crash left is looked for first');
  epoch.wrote(before + 1);
  assert.deepEqual(epoch.fence(), { expectedEpoch: before + 1, epoch: before + 1, owner: 'here' });
  assert.deepEqual(epoch.openingFence(), { expectedEpoch: before + 1, epoch: before + 2, owner: 'here' });
});

test('CLUSTER-4: an actor that held the epoch finds that another one has taken the conversation, and reads its row again', async (t) => {
  const world = await turnsWorld(t);
  const { id, row, sayMore } = await conversation(world);
  const epoch = new HeldEpoch(id, { state: 'unknown' }, world.db, ALONE);
  epoch.wrote(row().epoch);
  assert.equal(epoch.isTaken, false);
  await sayMore();
  assert.equal(epoch.isTaken, true);
  epoch.overtaken();
  assert.equal(epoch.fence().expectedEpoch, row().epoch);
});

test('CLUSTER-5: a conversation that was handed over is taken without its row, until somebody else takes it', async (t) => {
  const world = await turnsWorld(t);
  const { id, row, sayMore } = await conversation(world);
  const snapshot = snapshotOf(world.db, row());
  const refuses: Ownership = { ...ALONE, mayTake: () => false };
  const epoch = new HeldEpoch(id, { state: 'handed_over', snapshot }, world.db, refuses);
  assert.deepEqual([epoch.isClean, epoch.isNew, epoch.placeholders], [true, false, 0]);
  epoch.checkSnapshot();
  assert.deepEqual(epoch.openingFence(), { expectedEpoch: snapshot.epoch, epoch: snapshot.epoch + 1, owner: 'here' });
  await sayMore();
  epoch.checkSnapshot();
  assert.throws(() => epoch.openingFence(), OwnedElsewhere);
  assert.throws(() => epoch.requireOwn(), OwnedElsewhere);
  const left = new HeldEpoch(id, { state: 'handed_over', snapshot: { ...snapshot, leftOpen: true } }, world.db, refuses);
  assert.equal(left.isClean, false);
});

test('CLUSTER-4: a write to a conversation whose row is gone expects an epoch that no row has', async (t) => {
  const { db } = await turnsWorld(t);
  const epoch = new HeldEpoch('cnv_deleted', { state: 'unknown' }, db, ALONE);
  assert.equal(epoch.fence().expectedEpoch, 0);
});
