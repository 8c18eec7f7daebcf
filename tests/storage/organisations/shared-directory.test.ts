/** What several processes on one data directory mint, look up and use up is one for all of them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApp } from '../../../storage/apps/app-creation.ts';
import { dataLayout, prepareDataDir } from '../../../storage/data-layout.ts';
import { hasConsoleLink } from '../../../storage/organisations/installation.ts';
import { withStartLock } from '../../../storage/sqlite/lock.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { atEnd, temporaryDir } from '../../support/temporary-dir.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const ORGANISATION = 'org_000000000000000000000001';

/** A process on the directory; see start-worker.ts. */
function starter(t: TestContext, dir: string, task: 'mint' | 'hold'): { child: ChildProcess; lines: AsyncIterator<string> } {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./start-worker.js', import.meta.url)), dir, task], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  atEnd(t, () => child.kill('SIGKILL'));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

async function line(lines: AsyncIterator<string>): Promise<string> {
  return (await lines.next()).value as string;
}

function openShared(t: TestContext, dataDir: string): Storage {
  const storage = openStorage({ dataDir, masterKey: undefined, shared: true, onFatal: assert.fail });
  t.after(() => storage.close());
  return storage;
}

test('CLUSTER-2: processes that start at the same moment on an empty directory mint one master key and one operator token', async (t) => {
  const dir = temporaryDir(t);
  prepareDataDir(dir);
  const starters = [1, 2, 3, 4].map(() => starter(t, dir, 'mint'));
  for (const { lines } of starters) assert.equal(await line(lines), 'ready');
  for (const { child } of starters) child.stdin?.write('go\n');
  const minted = await Promise.all(starters.map(({ lines }) => line(lines)));
  const [digests, tokens] = [0, 1].map((part) =>
    minted.map((words) => /^([0-9a-f]{64} sha256:[0-9a-f]{64}) (.+)$/.exec(words)?.[part + 1]),
  );
  assert.equal(new Set(digests).size, 1, 'all of them hold the same');
  assert.equal(tokens?.filter((token) => token?.startsWith('rd_op_')).length, 1, 'one of them can show it');
  const layout = dataLayout(dir);
  for (const file of [layout.masterKey, layout.operatorToken]) assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.endsWith('.part')),
    [],
  );
});

test('CLUSTER-2: nodes prepare one after the other, and one that is killed with -9 meanwhile frees the next', async (t) => {
  const dir = temporaryDir(t);
  const first = starter(t, dir, 'hold');
  assert.equal(await line(first.lines), 'holding');
  await assert.rejects(
    withStartLock(dir, async () => assert.fail('the first one still starts'), 100),
    /Another node has been starting on .* stop the one that hangs/,
  );
  let began = false;
  const second = withStartLock(dir, async () => {
    began = true;
    return 'prepared';
  });
  assert.equal(began, false);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  assert.equal(await second, 'prepared');
  const order: string[] = [];
  const start = (name: string) =>
    withStartLock(dir, async () => {
      order.push(`${name} begins`);
      await nextTick();
      order.push(`${name} ends`);
    });
  await Promise.all([start('x'), start('y'), start('z')]);
  assert.deepEqual(
    order.map((said) => said.split(' ')[1]),
    ['begins', 'ends', 'begins', 'ends', 'begins', 'ends'],
  );
  await assert.rejects(
    withStartLock(dir, async () => {
      throw new Error('no disk');
    }),
    /no disk/,
  );
  assert.equal(await withStartLock(dir, async () => 'free again'), 'free again');
});

test('CLUSTER-2: a key that another node revokes stops working here at once, and one that it adds works', async (t) => {
  const dir = temporaryDir(t);
  const here = openShared(t, dir);
  const there = openShared(t, dir);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  const organisation = { id: ORGANISATION, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs: NOW } as const;
  await there.writeControl('createOrganisation', organisation);
  const { app, keys } = await createApp(there, {
    organisationId: ORGANISATION,
    name: 'Shop',
    platformHint: 'web',
    settings: {},
    nowMs: NOW,
  });
  const key = here.key(keys.live);
  assert.deepEqual([key?.appId, key?.revokedAtMs], [app.id, null]);
  assert.equal(here.key(keys.live), key, 'it is kept in memory while nobody writes');
  await there.writeControl('revokeKey', { appId: app.id, keyId: key?.keyId ?? '', nowMs: NOW });
  assert.equal(here.key(keys.live)?.revokedAtMs, NOW);
  assert.equal(here.key(keys.test)?.revokedAtMs, null);
});

test('CLUSTER-2: a one-time link is used up once, whichever nodes it is opened at, and the newest hundred are kept', async (t) => {
  const dir = temporaryDir(t);
  const nodes = [openShared(t, dir), openShared(t, dir)] as const;
  const expiresAtMs = NOW + 1_000;
  await nodes[0].writeControl('keepConsoleLink', { codeHash: 'one', expiresAtMs });
  const opened = await Promise.all(
    [0, 1, 0, 1].map((node) => (nodes[node] as Storage).writeControl('useConsoleLink', { codeHash: 'one', nowMs: NOW })),
  );
  assert.equal(opened.filter(Boolean).length, 1);
  await nodes[0].writeControl('keepConsoleLink', { codeHash: 'late', expiresAtMs });
  assert.equal(await nodes[1].writeControl('useConsoleLink', { codeHash: 'late', nowMs: expiresAtMs }), false);
  for (let n = 0; n < 102; n++) await nodes[n % 2]?.writeControl('keepConsoleLink', { codeHash: `link${n}`, expiresAtMs: NOW + n });
  const kept = Array.from({ length: 102 }, (_, n) => n).filter((n) => hasConsoleLink(nodes[0].control, `link${n}`));
  assert.deepEqual([kept.length, kept[0]], [100, 2]);
});

test('CLUSTER-2: a fact about the installation that two nodes settle is the first one’s', async (t) => {
  const dir = temporaryDir(t);
  const nodes = [openShared(t, dir), openShared(t, dir)];
  const said = await Promise.all(nodes.map((node, n) => node.writeControl('settleInstallation', { name: 'demo_app', value: `app_${n}` })));
  assert.equal(new Set(said).size, 1);
  assert.match(said[0] ?? '', /^app_[01]$/);
});
