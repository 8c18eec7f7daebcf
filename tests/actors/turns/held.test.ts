/** What an actor knows of the epoch of its conversation, held against the row that another one may have written meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Beginning, OwnedElsewhere, type Ownership, snapshotOf } from '../../../actors/turns/epoch.ts';
import type { TurnServices } from '../../../actors/turns/facts.ts';
import { Held } from '../../../actors/turns/held.ts';
import { type Fence, readConversation } from '../../../storage/conversations/conversations.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { readToEnd, ScriptedModel, turnsWorld, type World } from './world.ts';

const ALONE: Ownership = { self: 'here', process: 'here', isLost: () => true, mayTake: () => true };

/** An actor whose writes pass the fence as `passes` says, and are not made. */
function heldBy(id: string, beginning: Beginning, db: Connection, ownership = ALONE) {
  const seen: Fence[] = [];
  let passes = true;
  const write = async (_organisation: string, _name: string, { fence }: { readonly fence: Fence }) => {
    seen.push(fence);
    return passes;
  };
  const services = { ownership, storage: { organisation: () => db, write }, nowMs: () => 0 } as unknown as TurnServices;
  const held = new Held(services, id, { organisationId: 'org', appId: 'app', channel: 'live' }, beginning);
  /** The fence of a write, and whether it passes it. */
  const fenceOf = async (does = true): Promise<Fence | undefined> => {
    passes = does;
    assert.equal(await held.write('loseExecutions', { settlements: [] }), does);
    return seen.at(-1);
  };
  return { held, fenceOf };
}

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
  const { held, fenceOf } = heldBy('cnv_new', { state: 'new' }, db);
  for (const lost of [false, true]) {
    if (lost) held.lose();
    assert.deepEqual(held.openingFence(), { expectedEpoch: null, epoch: 1, owner: 'here' });
    assert.deepEqual([held.isNew, held.isClean, held.isTaken, held.placeholders], [true, true, false, 0]);
  }
  assert.deepEqual(await fenceOf(), { expectedEpoch: 0, epoch: 1, owner: 'here' });
  assert.deepEqual([held.isNew, held.isClean], [false, true]);
  assert.deepEqual(await fenceOf(), { expectedEpoch: 1, epoch: 1, owner: 'here' });
});

test('CLUSTER-4: an actor that knows nothing takes the next epoch of the row, and only the opening of a turn makes one of its own', async (t) => {
  const world = await turnsWorld(t);
  const { id, row } = await conversation(world);
  const { held, fenceOf } = heldBy(id, { state: 'unknown' }, world.db);
  const before = row().epoch;
  assert.equal(held.isClean, false, 'what a crash left is looked for first');
  assert.deepEqual(await fenceOf(), { expectedEpoch: before, epoch: before + 1, owner: 'here' });
  assert.deepEqual(await fenceOf(), { expectedEpoch: before + 1, epoch: before + 1, owner: 'here' });
  assert.deepEqual(held.openingFence(), { expectedEpoch: before + 1, epoch: before + 2, owner: 'here' });
});

test('CLUSTER-4: an actor that held the epoch finds that another one has taken the conversation, and reads its row again', async (t) => {
  const world = await turnsWorld(t);
  const { id, row, sayMore } = await conversation(world);
  const snapshot = { ...snapshotOf(world.db, row()), epoch: row().epoch - 1 };
  const { held, fenceOf } = heldBy(id, { state: 'handed_over', snapshot }, world.db);
  await fenceOf();
  assert.equal(held.isTaken, false);
  await sayMore();
  assert.equal(held.isTaken, true);
  await fenceOf(false);
  assert.equal((await fenceOf())?.expectedEpoch, row().epoch);
});

test('CLUSTER-5: a conversation that was handed over is taken without its row, until somebody else takes it', async (t) => {
  const world = await turnsWorld(t);
  const { id, row, sayMore } = await conversation(world);
  const snapshot = snapshotOf(world.db, row());
  const refuses: Ownership = { ...ALONE, mayTake: () => false };
  const { held } = heldBy(id, { state: 'handed_over', snapshot }, world.db, refuses);
  assert.deepEqual([held.isClean, held.isNew, held.placeholders], [true, false, 0]);
  held.checkSnapshot();
  assert.deepEqual(held.openingFence(), { expectedEpoch: snapshot.epoch, epoch: snapshot.epoch + 1, owner: 'here' });
  await sayMore();
  held.checkSnapshot();
  assert.throws(() => held.openingFence(), OwnedElsewhere);
  assert.throws(() => held.requireOwn(), OwnedElsewhere);
  const { held: left } = heldBy(id, { state: 'handed_over', snapshot: { ...snapshot, leftOpen: true } }, world.db, refuses);
  assert.equal(left.isClean, false);
});

test('CLUSTER-4: a write to a conversation whose row is gone expects an epoch that no row has', async (t) => {
  const { db } = await turnsWorld(t);
  const { fenceOf } = heldBy('cnv_deleted', { state: 'unknown' }, db);
  assert.equal((await fenceOf())?.expectedEpoch, 0);
});

test('CLUSTER-4, STORE-26: the row with which an actor begins says what its first write expects; one that is stale is read again', async (t) => {
  const world = await turnsWorld(t);
  const { id, row, sayMore } = await conversation(world);
  const asRead = row();
  const { held } = heldBy(id, { state: 'unknown', row: asRead }, world.db);
  await sayMore();
  assert.deepEqual(held.openingFence(), { expectedEpoch: asRead.epoch, epoch: asRead.epoch + 1, owner: 'here' });
  assert.deepEqual([held.placeholders, held.mayHaveCalls, held.isClean], [0, false, false]);
  held.lose();
  assert.equal(held.openingFence().expectedEpoch, row().epoch);
  assert.deepEqual([held.placeholders, held.mayHaveCalls], [undefined, true]);
});
