import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { askAddress, isClosed, putHolder, readHolder } from '../../../program/replica/address-holder.ts';
import { type ReplicaStore, replicaStore } from '../../../program/replica/store.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const OWN = { cell: 'eu-1', term: 2 };
const S3 = { region: 'us-east-1', endpoint: undefined, accessKeyId: undefined, secretAccessKey: undefined };

function addressOf(t: TestContext): ReplicaStore {
  const store = replicaStore({ url: `file://${temporaryDir(t)}`, s3: S3 });
  assert.ok(store !== undefined);
  return store;
}

describe('CELL-16: an address belongs to one term of one cell', () => {
  test('who comes first has it, and is asked again as the newest', async (t) => {
    const store = addressOf(t);
    assert.equal(await readHolder(store), undefined);
    assert.equal(await askAddress(store, OWN, () => false), 'newest');
    assert.deepEqual(await readHolder(store), OWN);
    assert.equal(await askAddress(store, OWN, () => true), 'newest');
  });

  test('another cell, another term and a closed address overtake; one that was emptied says nothing', async (t) => {
    for (const holder of [
      { ...OWN, cell: 'eu-2' },
      { ...OWN, term: 1 },
      { ...OWN, term: 3 },
      { ...OWN, taken_over: { by: 'host-2', at: '2026-01-01T00:00:00Z' } },
    ]) {
      const store = addressOf(t);
      await putHolder(store, holder);
      assert.equal(await askAddress(store, OWN, () => true), 'overtaken');
      assert.equal(await isClosed(store), 'taken_over' in holder);
    }
    assert.equal(await askAddress(addressOf(t), OWN, () => true), 'silent');
  });

  test('what somebody else wrote there is named and repeated nowhere', async (t) => {
    const store = addressOf(t);
    for (const text of [
      '',
      'no JSON',
      'null',
      '{"cell":"eu-1"}',
      '{"cell":"eu-1","term":0}',
      '{"cell":"eu-1","term":9007199254740992}',
      '{"cell":"eu-1","term":"2"}',
      '{"cell":"\\u001b[2Jeu-1","term":2}',
      '{"cell":"eu-1","term":2,"taken_over":{"by":"a\\nb","at":"2026-01-01T00:00:00Z"}}',
      `{"cell":"${'e'.repeat(1_000)}","term":2}`,
    ]) {
      await store.put('cell.json', Buffer.from(text));
      const expected =
        /^(?:Error: )?cell\.json at the address of the replica is not what a cell puts there\. Look at it, and remove it only if /;
      await assert.rejects(readHolder(store), (error: Error) => expected.test(error.message) && error.cause === undefined);
      await assert.rejects(
        askAddress(store, OWN, () => true),
        expected,
      );
      assert.equal(await isClosed(store), false);
    }
  });
});
