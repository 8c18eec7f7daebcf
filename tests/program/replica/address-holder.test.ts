import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { describe, type TestContext, test } from 'node:test';
import {
  type Address,
  type AddressHolder,
  addressAsPlace,
  isAnothers,
  readHolder,
  replaceHolder,
} from '../../../program/replica/address-holder.ts';
import { replicaStore } from '../../../program/replica/store.ts';
import { provenBytes } from '../../../storage/replica/replica-manifest.ts';
import { openVault } from '../../../storage/secrets/vault.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { startStorageFront } from '../../support/storage-front.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const OWN = { cell: 'eu-1', term: 2 };
const S3 = { region: 'us-east-1', endpoint: undefined, accessKeyId: undefined, secretAccessKey: undefined };

const vaultOf = (byte: number) => openVault('', Buffer.alloc(32, byte).toString('base64'));

function addressOf(t: TestContext): Address {
  const store = replicaStore({ url: `file://${temporaryDir(t)}`, s3: S3 });
  assert.ok(store !== undefined);
  return { store, vault: vaultOf(1) };
}

const SEAT = 'id.here.boot';
const SEAT_HERE = { own: SEAT, had: () => false };

function placeAt(address: Address, { known = true } = {}) {
  return addressAsPlace({ ...address, own: OWN, seat: SEAT, isKnown: () => known, onClaimed() {} });
}

describe('CELL-16, CELL-18: an address belongs to one directory in one term of one cell', () => {
  test('who comes first has it; until it is noted as the address of the cell it proves nothing', async (t) => {
    const address = addressOf(t);
    const place = placeAt(address, { known: false });
    assert.equal(await place.read(), undefined);
    const both = await Promise.all([place.replace(undefined, { seat: SEAT }), place.replace(undefined, { seat: 'other.there.boot' })]);
    assert.equal(both.filter(Boolean).length, 1);
    await address.store.remove('cell.json');
    assert.equal(await place.replace(undefined, { seat: SEAT }), true);
    assert.equal(await place.replace(undefined, { seat: SEAT }), true, 'it is there already');
    assert.equal(await placeAt(address).replace(undefined, { seat: 'other.there.boot' }), false);
    assert.deepEqual(await readHolder(address), { ...OWN, seat: SEAT });
    assert.equal(await place.read(), undefined);
    assert.deepEqual(await placeAt(address).read(), { ...OWN, seat: SEAT });
    assert.deepEqual(
      [
        await isAnothers(address, SEAT_HERE),
        await isAnothers(address, undefined),
        await isAnothers(address, { own: 'x', had: () => false }),
      ],
      [false, true, true],
    );
    assert.equal(await isAnothers(address, { own: 'id.here.later', had: (seat) => seat === SEAT }), undefined, 'the fence may take it yet');
  });

  test('in a folder on a disk without hard links one of several has it too', async (t) => {
    const refused = Object.assign(new Error('no links'), { code: 'EPERM' });
    const link = t.mock.method(files, 'link', () => Promise.reject(refused));
    syncBuiltinESMExports();
    t.after(() => {
      link.mock.restore();
      syncBuiltinESMExports();
    });
    const address = addressOf(t);
    const put = (seat: string) => replaceHolder(address, undefined, { ...OWN, seat });
    assert.equal(await put('a'), true);
    assert.equal(await put('b'), false);
    await address.store.remove('cell.json');
    const both = await Promise.allSettled([put('a'), put('b')]);
    assert.equal(both.filter((one) => one.status === 'fulfilled' && one.value).length, 1);
    assert.deepEqual(
      (await address.store.list('')).map(({ name }) => name),
      ['cell.json'],
    );
    assert.ok(link.mock.callCount() > 0);
  });

  test('at an S3 server of several writers one has it, as it is put and as it is replaced', async (t) => {
    const storage = await startObjectStorage(t);
    const front = await startStorageFront(t, storage.env.AWS_ENDPOINT_URL ?? '');
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = storage.env;
    const store = replicaStore({ url: storage.url, s3: { region: 'us-east-1', endpoint: front.endpoint, accessKeyId, secretAccessKey } });
    assert.ok(store !== undefined);
    const address = { store, vault: vaultOf(1) };
    const write = (was: AddressHolder | undefined) =>
      Promise.all(['a', 'b', 'c'].map((one) => replaceHolder(address, was, { ...OWN, seat: `${one}.${randomUUID()}` })));
    for (let round = 0; round < 3; round++) {
      assert.equal((await write(undefined)).filter(Boolean).length, 1);
      assert.equal((await write(await readHolder(address))).filter(Boolean).length, 1);
      assert.equal((await write({ ...OWN, seat: 'x.y.z' })).filter(Boolean).length, 0, 'not what is there');
      await store.remove('cell.json');
    }
    front.mood = 'plain';
    assert.equal(await replaceHolder(address, undefined, OWN), true, 'a server that knows no conditions');
  });

  test('one that waits is named and struck out, and only what was read is replaced', async (t) => {
    const address = addressOf(t);
    await address.store.put('cell.json', provenBytes(address.vault, 'cell.json', OWN));
    const place = placeAt(address);
    assert.equal(await place.replace({}, { seat: SEAT }), true, 'a claim that names no directory');
    assert.equal(await place.replace({ seat: SEAT }, { seat: SEAT, next: 'a.b.c' }), true);
    assert.equal(await place.replace({ seat: SEAT }, { seat: 'a.b.c' }), false);
    assert.equal(await place.replace({ seat: SEAT, next: 'a.b.c' }, { seat: SEAT }), true);
    assert.deepEqual(await readHolder(address), { ...OWN, seat: SEAT });
  });

  test('a later term and a take-over are later; another cell, an older term and one that was emptied say nothing', async (t) => {
    const address = addressOf(t);
    const put = (holder: object) => address.store.put('cell.json', provenBytes(address.vault, 'cell.json', holder));
    for (const holder of [
      { ...OWN, term: 3 },
      { ...OWN, taken_over: { by: 'host-2', at: '2026-01-01T00:00:00Z' }, seat: 'a.b.c' },
    ]) {
      await put(holder);
      assert.equal(await placeAt(address).read(), 'later');
      assert.equal(await placeAt(address).replace(undefined, { seat: SEAT }), false);
      assert.equal(await isAnothers(address, SEAT_HERE), 'taken_over' in holder);
    }
    for (const holder of [
      { ...OWN, cell: 'eu-2' },
      { ...OWN, term: 1 },
    ]) {
      await put(holder);
      await assert.rejects(placeAt(address).read(), /of another cell or term/);
    }
    await assert.rejects(placeAt(addressOf(t)).read(), /cell\.json is away/);
  });

  test('what somebody else wrote there is named and repeated nowhere', async (t) => {
    const address = addressOf(t);
    for (const text of [
      '',
      'no JSON',
      'null',
      '{"cell":"eu-1"}',
      // Nothing proves these.
      '{"cell":"eu-1","term":2}',
      '{"cell":"eu-1","term":3}',
      '{"cell":"eu-2","term":9}',
      '{"cell":"eu-1","term":2,"seat":"a.b.c"}',
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
      await assert.rejects(placeAt(address).read(), expected);
      assert.equal(await isAnothers(address, SEAT_HERE), false, 'what nobody proves ends no replication');
    }
  });
});
