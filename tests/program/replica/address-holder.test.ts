import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Address, askAddress, isClosed, putHolder, readHolder } from '../../../program/replica/address-holder.ts';
import { replicaStore } from '../../../program/replica/store.ts';
import { provenBytes } from '../../../storage/replica/replica-manifest.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const OWN = { cell: 'eu-1', term: 2 };
const S3 = { region: 'us-east-1', endpoint: undefined, accessKeyId: undefined, secretAccessKey: undefined };

const vaultOf = (byte: number) => openVault('', Buffer.alloc(32, byte).toString('base64'));

function addressOf(t: TestContext): Address {
  const store = replicaStore({ url: `file://${temporaryDir(t)}`, s3: S3 });
  assert.ok(store !== undefined);
  return { store, vault: vaultOf(1) };
}

describe('CELL-16: an address belongs to one term of one cell', () => {
  test('who comes first has it, and is asked again as the newest', async (t) => {
    const address = addressOf(t);
    assert.equal(await readHolder(address), undefined);
    assert.equal(await askAddress(address, OWN, () => false), 'newest');
    assert.deepEqual(await readHolder(address), OWN);
    assert.equal(await askAddress(address, OWN, () => true), 'newest');
  });

  test('another cell, another term and a closed address overtake; one that was emptied says nothing', async (t) => {
    for (const holder of [
      { ...OWN, cell: 'eu-2' },
      { ...OWN, term: 1 },
      { ...OWN, term: 3 },
      { ...OWN, taken_over: { by: 'host-2', at: '2026-01-01T00:00:00Z' } },
    ]) {
      const address = addressOf(t);
      await putHolder(address, holder);
      assert.equal(await askAddress(address, OWN, () => true), 'overtaken');
      assert.equal(await isClosed(address), 'taken_over' in holder);
    }
    assert.equal(await askAddress(addressOf(t), OWN, () => true), 'silent');
  });

  test('what somebody else wrote there is named and repeated nowhere', async (t) => {
    const address = addressOf(t);
    for (const text of [
      '',
      'no JSON',
      'null',
      '{"cell":"eu-1"}',
      // Nothing proves these: the first says nothing that the directory would not say itself, but is of another term.
      '{"cell":"eu-1","term":3}',
      '{"cell":"eu-2","term":9}',
      '{"cell":"eu-1","term":2,"taken_over":{"by":"host-2","at":"2026-01-01T00:00:00Z"}}',
      `{"cell":"eu-1","term":3,"mac":"${'0'.repeat(64)}"}`,
      provenBytes(vaultOf(2), 'cell.json', { cell: 'eu-1', term: 3 }).toString(),
      provenBytes(vaultOf(1), 'files/service.json', { cell: 'eu-1', term: 3 }).toString(),
      '{"cell":"eu-1","term":0}',
      '{"cell":"eu-1","term":9007199254740992}',
      '{"cell":"eu-1","term":"2"}',
      '{"cell":"\\u001b[2Jeu-1","term":2}',
      '{"cell":"eu-1","term":2,"taken_over":{"by":"a\\nb","at":"2026-01-01T00:00:00Z"}}',
      `{"cell":"${'e'.repeat(1_000)}","term":2}`,
    ]) {
      await address.store.put('cell.json', Buffer.from(text));
      const expected =
        /^(?:Error: )?cell\.json at the address of the replica is not what a cell with this master key puts there\. Look at it, and remove it only if /;
      await assert.rejects(readHolder(address), (error: Error) => expected.test(error.message) && error.cause === undefined);
      await assert.rejects(
        askAddress(address, OWN, () => true),
        expected,
      );
      assert.equal(await isClosed(address), false);
    }
  });

  test('a claim of its own that an older release put there is its own, and gets a MAC', async (t) => {
    const address = addressOf(t);
    await address.store.put('cell.json', Buffer.from(`${JSON.stringify(OWN)}\n`));
    assert.equal(await askAddress(address, OWN, () => true), 'newest');
    assert.deepEqual(await readHolder(address), OWN);
  });
});
