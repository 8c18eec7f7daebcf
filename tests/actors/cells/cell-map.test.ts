import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import pino from 'pino';
import { CellMap } from '../../../actors/cells/cell-map.ts';
import { createTermClaims } from '../../../actors/cells/term-claims.ts';
import { openRedis, type RedisConnection } from '../../../actors/cluster/bus/redis-connection.ts';
import { mintId } from '../../../protocol/ids.ts';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { listCells } from '../../../storage/moving/cells.ts';
import { readPlacement } from '../../../storage/moving/placements.ts';
import { hashSecret, mintFileCode, mintSetupToken } from '../../../storage/setup/setup-access.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { eventually } from '../../support/eventually.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const skip = redisMissing();
const [ORG, OTHER] = ['org_000000000000000000000001', 'org_000000000000000000000002'] as const;
const silent = pino({ level: 'silent' });

interface Member {
  readonly storage: Storage;
  readonly redis: RedisConnection;
  readonly map: CellMap;
  readonly placed: string[];
}

const masterKey = randomBytes(32).toString('base64');
let nowMs = 1_000_000;

function join(t: TestContext, id: string, redisUrl: string, key = masterKey): Member {
  const storage = openStorage({ dataDir: temporaryDir(t), masterKey: key, onFatal: () => {} });
  const redis = openRedis({ redisUrl, log: silent });
  const placed: string[] = [];
  const self = { id, url: `http://${id}.example`, term: 1 };
  const map = new CellMap({
    redis,
    self,
    mayPublish: () => true,
    storage,
    log: silent,
    nowMs: () => nowMs,
    onPlaced: (ids) => placed.push(...ids),
  });
  t.after(async () => {
    await map.close();
    redis.close();
    await storage.close();
  });
  return { storage, redis, map, placed };
}

const cellsOf = ({ storage }: Member) =>
  listCells(storage.control)
    .map(({ cell }) => cell)
    .join();
const placeOf = ({ storage }: Member, id: string) => {
  const placement = readPlacement(storage.control, id);
  return placement === undefined ? '' : `${placement.cell} ${placement.version}`;
};
const known = (members: readonly Member[], what: (member: Member) => string, expected: string) =>
  eventually(
    async () => {
      for (const { map } of members) await map.sync();
      return members.every((member) => what(member) === expected);
    },
    undefined,
    () => `${members.map(what).join(' | ')} is not ${expected}`,
  );

test('CELL-6: cells find each other in Redis and take over the newer placement of each organisation', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = [join(t, 'a', redis.url), join(t, 'b', redis.url)];
  await known([a, b], cellsOf, 'a,b');
  await b.storage.writeControl('placeOrganisation', { organisationId: ORG, cell: 'b', version: 1, nowMs });
  await b.map.publish(ORG);
  await a.map.sync();
  assert.deepEqual([placeOf(a, ORG), a.placed], ['b 1', [ORG]]);
  // It moves to a, which is the one to say so; what b knew is no news to a.
  await a.storage.writeControl('placeOrganisation', { organisationId: ORG, cell: 'a', version: 2, nowMs });
  await b.map.sync();
  assert.equal(placeOf(b, ORG), 'b 1');
  await a.map.sync();
  await b.map.sync();
  assert.deepEqual([placeOf(a, ORG), placeOf(b, ORG), b.placed], ['a 2', 'a 2', [ORG]]);
});

test('CELL-6: a Redis that lost everything has the map again from the control files; without it they hold', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = [join(t, 'a', redis.url), join(t, 'b', redis.url)];
  await b.storage.writeControl('placeOrganisation', { organisationId: ORG, cell: 'b', version: 3, nowMs });
  await known([b, a], (member) => `${placeOf(member, ORG)} ${cellsOf(member)}`, 'b 3 a,b');
  await redis.kill();
  await eventually(
    () => !a.redis.up && !b.redis.up,
    undefined,
    () => 'the connections are still up',
  );
  const before = a.map.syncedAtMs;
  nowMs += 1;
  await a.map.sync();
  await b.map.publish(ORG);
  assert.deepEqual([placeOf(a, ORG), cellsOf(a), a.map.syncedAtMs], ['b 3', 'a,b', before]);
  await redis.restart();
  // By themselves: each says again what it knows once its connection is back.
  const looker = new Redis(redis.url);
  t.after(() => looker.disconnect());
  const there = async () => (await looker.hexists('assistant:placements', ORG)) + (await looker.hlen('assistant:cells'));
  await eventually(
    async () => (await there()) === 3,
    undefined,
    () => 'the map is not back',
  );
  const late = join(t, 'c', redis.url);
  await known([late], (member) => `${placeOf(member, ORG)} ${cellsOf(member)}`, 'b 3 a,b,c');
});

/** An organisation with an app that has a key, and a setup session with a code. */
async function populate({ storage }: Member, organisationId: string) {
  const organisation = {
    id: organisationId,
    name: 'Acme',
    plan: 'free',
    members: [],
    autoTopUp: { enabled: false, amount_usd: 10 },
  } as const;
  await storage.writeControl('createOrganisation', { ...organisation, nowMs });
  const { app, keys } = await createApp(storage, { organisationId, name: 'Shop', platformHint: 'web', settings: {}, nowMs });
  const [code, token] = [mintFileCode(), mintSetupToken()];
  const session = { sessionId: mintId('ses', nowMs), organisationId, appId: app.id };
  await storage.writeControl('issueFileCode', { ...session, codeHash: hashSecret(code), nowMs });
  await storage.writeControl('redeemFileCode', { codeHash: hashSecret(code), tokenHash: hashSecret(token), nowMs });
  return { app, key: keys.live, code, token };
}

test('CELL-19: keys, tokens and codes are found in Redis by their digest, from the moment that they are made', { skip }, async (t) => {
  const redis = await startRedis(t);
  const looker = new Redis(redis.url);
  t.after(() => looker.disconnect());
  const [a, b] = [join(t, 'a', redis.url), join(t, 'b', redis.url)];
  await known([a, b], cellsOf, 'a,b');
  await eventually(async () => {
    await Promise.all([a.map.sync(), b.map.sync()]);
    return a.map.covers('b') && b.map.covers('a');
  });
  // No round is waited for: what is new is said within a tenth of a second, and a look waits for it.
  const { app, key, code, token } = await populate(b, ORG);
  const home = { organisationId: ORG, cell: 'b' };
  // A busy machine may take longer than the look waits.
  const finds = (kind: 'key' | 'setup_code' | 'setup_token', name: string) =>
    eventually(async () => isDeepStrictEqual(await a.map.homes.find(kind, name), home));
  await finds('key', key);
  await finds('setup_code', code);
  await finds('setup_token', token);
  assert.equal(await a.map.homes.find('setup_token', key), undefined, 'a name of another kind');
  const there = (await looker.keys('assistant:home:*')).filter((name) => !name.startsWith('assistant:home:all '));
  const values = await looker.mget(there);
  assert.equal(there.length, 4, 'two keys, a code and a token');
  for (const secret of [key, code, token, ORG]) assert.ok(!JSON.stringify([there, values]).includes(secret));
  for (const field of there) assert.ok((await looker.pttl(field)) > 0, 'it is forgotten unless it is said again');
  // The numbers of rows that were deleted are given again.
  await b.storage.writeControl('unregisterApp', { appId: app.id });
  const again = await createApp(b.storage, { organisationId: ORG, name: 'Shop', platformHint: 'web', settings: {}, nowMs });
  await finds('key', again.keys.live);
  // Whoever writes to Redis can send nobody elsewhere.
  const [one = '', two = ''] = there;
  await looker.mset({ [one]: values[1] ?? '', [two]: 'nonsense' });
  const answers = await Promise.all(
    (['key', 'setup_code', 'setup_token'] as const).map((kind) =>
      a.map.homes.find(kind, { key, setup_code: code, setup_token: token }[kind]),
    ),
  );
  for (const at of answers) assert.ok(at === undefined || at.cell === 'b');
});

test('CELL-19: an empty Redis is no proof that a name is unknown: its cells are asked until they have said theirs again', {
  skip,
}, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = [join(t, 'a', redis.url), join(t, 'b', redis.url)];
  const { key } = await populate(b, ORG);
  await known([a, b], cellsOf, 'a,b');
  await eventually(async () => {
    await Promise.all([a.map.sync(), b.map.sync()]);
    return a.map.covers('b');
  });
  await redis.kill();
  await eventually(() => !a.redis.up && !b.redis.up);
  await assert.rejects(a.map.homes.find('key', key), 'it is not told to be unknown');
  await redis.restart();
  await eventually(() => a.redis.up);
  // Covered again once b has said its names.
  await eventually(async () => {
    await a.map.sync();
    return a.map.covers('b');
  });
  assert.deepEqual(await a.map.homes.find('key', key), { organisationId: ORG, cell: 'b' });
  // Whoever empties it while it runs is noticed within seconds.
  const looker = new Redis(redis.url);
  t.after(() => looker.disconnect());
  await looker.flushall();
  assert.equal(await a.map.homes.find('key', key), undefined);
  await eventually(async () => (await a.map.homes.find('key', key)) !== undefined);
});

test('CELL-16: what no cell wrote is no claim of a term, and holds nobody up who claims it', { skip }, async (t) => {
  const redis = await startRedis(t);
  const looker = new Redis(redis.url);
  t.after(() => looker.disconnect());
  const a = join(t, 'a', redis.url);
  await eventually(() => a.redis.up);
  const claims = createTermClaims(a.redis, a.storage.vault);
  const mine = { host: 'h', data_dir: '/d', at_ms: nowMs };
  for (const [term, garbage] of [
    [2, 'nonsense'],
    [3, 'x'.repeat(100_000)],
  ] as const) {
    await looker.hset('assistant:terms', { [`a ${term}`]: garbage });
    assert.deepEqual(await claims.make({ cell: 'a', term }, mine), mine);
    assert.deepEqual(await claims.make({ cell: 'a', term }, { ...mine, host: 'late' }), mine, 'the first one stands');
  }
});

test('CELL-5, CELL-6: Redis learns no address and forges nothing: what another key sealed, or moved about, is not believed', {
  skip,
}, async (t) => {
  const redis = await startRedis(t);
  const looker = new Redis(redis.url);
  t.after(() => looker.disconnect());
  const a = join(t, 'a', redis.url);
  await a.storage.writeControl('placeOrganisation', { organisationId: ORG, cell: 'a', version: 1, nowMs });
  await known([a], cellsOf, 'a');
  const [cells, placements] = [await looker.hgetall('assistant:cells'), await looker.hgetall('assistant:placements')];
  assert.doesNotMatch(JSON.stringify([cells, placements]), /example|http/);
  // A stranger with its own key, a value under another name, a version that only says to be newer.
  const stranger = join(t, 'stranger', redis.url, randomBytes(32).toString('base64'));
  await stranger.storage.writeControl('placeOrganisation', { organisationId: OTHER, cell: 'stranger', version: 9, nowMs });
  await known([stranger], cellsOf, 'stranger');
  const value = placements[ORG] ?? '';
  await looker.hset('assistant:placements', { [OTHER]: value, [ORG]: value.replace(/^\d+/, '99') });
  await looker.hset('assistant:cells', { forged: cells.a ?? '', nonsense: 'x' });
  await a.map.sync();
  assert.deepEqual([cellsOf(a), placeOf(a, ORG), placeOf(a, OTHER), a.placed], ['a', 'a 1', '', []]);
});
