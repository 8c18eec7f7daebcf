/** What a client was told is on disk when the power goes, also after an fsync has failed. `CUTS=2000 npm run test:kills -- power` tries more. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { dataLayout } from '../../storage/data-layout.ts';
import { digestOfToken, openOperatorToken } from '../../storage/secrets/operator-token.ts';
import { createOperator, createTestApp, DEVICE } from '../support/client.ts';
import { follow, isBrokenConnection } from '../support/partial.ts';
import { type PoweredDisk, powerJournal, replay } from '../support/power-cuts.ts';
import { redisMissing, startRedis } from '../support/redis.ts';
import { runCli } from '../support/run-cli.ts';
import { scaled } from '../support/scale.ts';
import { type RunningService, startService } from '../support/service.ts';
import { AGENT, agentOf, createAgent, openSession } from '../support/setup-agent.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

/** As many syncs fail at least, and after as many cuts at least the disk is looked at. */
const CUTS = Number(process.env.CUTS ?? scaled(200, 20));
/** Those whose names end so fail, one after the other. */
const FILES = ['-wal', '-wal', '.sqlite', '-wal', '', 'organisations'];
/** As many syncs after one that failed the power may go because of the same trouble: half of these moments are tried. */
const TROUBLED = 3;
/** Of so few each is tried. */
const FEW_SYNCS = 100;
const CLIENTS = 4;
const TURNS_PER_ROUND = 2;
const FAIL_AT_ONCE_MAX = 8;
/** In every so many rounds writes fail, not syncs. */
const ROUNDS_PER_WRITES = 5;
/** Every so many rounds the process is killed, or ended, and another one goes on. */
const ROUNDS_PER_LIFE = 12;

/** Each kind of thing is told as often at least, or nothing of it would be proven. */
const TOLD_MIN = 3;
const KINDS = ['said', 'answered', 'uploaded', 'taught'] as const;

interface Told {
  readonly kind: (typeof KINDS)[number];
  readonly id: string;
  /** The journal at that moment. */
  readonly position: number;
}

/** What of `told` the files lack, and files that are damaged. `whole`: where the files lie that were never cut off. */
function missingIn(dir: string, whole: string, told: readonly Told[]): string[] {
  const found = new Set<string>();
  const missing: string[] = [];
  const folder = join(dir, 'organisations');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sqlite')) : [];
  for (const path of ['control.sqlite', ...files.map((name) => join('organisations', name))]) {
    if (!existsSync(join(dir, path))) continue;
    try {
      const db = new Database(join(dir, path));
      const check = db.pragma('integrity_check', { simple: true });
      if (check !== 'ok') missing.push(`${path}: ${check}`);
      // An organisation's file is made before its tables are.
      if (path !== 'control.sqlite' && db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'uploads'").get() !== undefined) {
        for (const { id } of db.prepare('SELECT turn_id AS id FROM turns').all() as { id: string }[]) found.add(`said ${id}`);
        const answered =
          'SELECT turn_id AS id FROM turns AS t JOIN charges AS c ON c.turn = t.id JOIN messages AS m ON m.no = 2 * t.id + 1';
        for (const { id } of db.prepare(answered).all() as { id: string }[]) found.add(`answered ${id}`);
        for (const { id } of db.prepare('SELECT external_key AS id FROM knowledge_sources').all() as { id: string }[])
          found.add(`taught ${id}`);
        for (const { id } of db.prepare('SELECT id FROM uploads').all() as { id: string }[]) {
          if (isSame(dir, whole, join('uploads', basename(path, '.sqlite'), id))) found.add(`uploaded ${id}`);
        }
      }
      db.close();
    } catch (error) {
      missing.push(`${path}: ${(error as Error).message}`);
    }
  }
  // Without it nothing that is sealed opens.
  if (told.length > 0 && !isSame(dir, whole, 'master-key')) missing.push('master-key');
  return [...missing, ...told.map(({ kind, id }) => `${kind} ${id}`).filter((each) => !found.has(each))];
}

function isSame(dir: string, whole: string, path: string): boolean {
  // What a person erased later is nowhere whole.
  if (!existsSync(join(whole, path))) return true;
  return existsSync(join(dir, path)) && readFileSync(join(dir, path)).equals(readFileSync(join(whole, path)));
}

async function upload(baseUrl: string, key: string): Promise<string | undefined> {
  const body = new FormData();
  body.append('file', new Blob([randomUUID()], { type: 'text/plain' }), 'words.txt');
  try {
    const answer = await fetch(`${baseUrl}/v1/uploads`, {
      method: 'POST',
      headers: { 'X-Service-Key': key, 'X-Service-Device': DEVICE },
      body,
    });
    const { upload_id: id } = (await answer.json()) as { upload_id?: string };
    return answer.ok ? id : undefined;
  } catch (error) {
    if (isBrokenConnection((error as Error).cause ?? error)) return undefined;
    throw error;
  }
}

/** Tries cuts, and counts of each thing that was missing after one how often it was. `missing`: what is missing in a folder at a moment. */
function judge(t: TestContext, dataDir: string, journal: Buffer, missing: (dir: string, position: number) => string[]): [string, number][] {
  const target = join(temporaryDir(t), 'left');
  const lost = new Map<string, number>();
  const cuts = { all: 0, losing: 0 };
  const judgeOne = (disk: PoweredDisk, position: number, luck?: () => boolean) => {
    disk.leave(dataDir, target, luck);
    const found = missing(target, position);
    cuts.all += 1;
    if (found.length > 0) cuts.losing += 1;
    for (const each of found) lost.set(each, (lost.get(each) ?? 0) + 1);
  };
  const { syncs } = replay(journal, () => {});
  const { failed, refused } = replay(journal, (disk, position, sinceFailed) => {
    const isTried = syncs < FEW_SYNCS || (sinceFailed < TROUBLED ? randomInt(2) === 0 : randomInt(syncs) < CUTS);
    if (position < journal.length && !isTried) return;
    judgeOne(disk, position);
    judgeOne(disk, position, () => randomInt(2) === 0);
  });
  t.diagnostic(
    `${syncs} syncs, and ${failed} that failed, as did ${refused} writes; ${cuts.all} cuts, after ${cuts.losing} of them something was lost, ${lost.size} things in all`,
  );
  return [...lost];
}

/** An agent that sets another app up, and teaches it something each time. */
async function startTeaching({ baseUrl, operatorToken }: RunningService, organisationId: string, current: () => RunningService) {
  const operator = createOperator(baseUrl, operatorToken);
  const made = (await operator('POST', `/orgs/${organisationId}/apps`, { name: 'Taught' })).json as { app: { id: string } };
  const { token } = await agentOf(baseUrl, (await openSession(operator, made.app.id)).code);
  const agent = createAgent(() => current().baseUrl, token);
  await agent.get('POST', '/start', { ...AGENT, detected: { platform: 'web', framework: 'react', locales: ['en'] } });
  let items = 0;
  /** What it was told is kept; undefined: it was refused. */
  return async () => {
    const key = `item-${items++}`;
    const item = { external_key: key, kind: 'text', title: key, content: `Words of ${key}.` };
    return (await agent.send('POST', '/knowledge', { items: [item] })).status === 200 ? key : undefined;
  };
}

async function lose(t: TestContext, failures: number, more: Readonly<Record<string, string>>): Promise<[string, number][]> {
  const upstream = await startUpstream(t, () => [{ text: 'Yes.' }]);
  const dataDir = temporaryDir(t);
  const power = powerJournal(t, dataDir);
  const env = { ...upstreamEnv(upstream), ...power.env, ...more, DEMO: 'off' };
  const told: Told[] = [];
  const tell = (kind: Told['kind'], id: string) => told.push({ kind, id, position: power.position() });
  let service = await startService(t, { dataDir, env });
  const { liveKey, organisationId } = await createTestApp(service.baseUrl, service.operatorToken);
  const teach = await startTeaching(service, organisationId, () => service);
  const talk = async (client: number) => {
    for (let turn = 0; turn < TURNS_PER_ROUND; turn += 1) {
      const id = randomUUID();
      await follow(service.baseUrl, liveKey, { turn_id: id, message: { text: `message ${id}` } }, (event) => {
        if (event.type === 'turn.start') tell('said', id);
        if (event.type === 'turn.end' && event.status === 'completed') tell('answered', id);
      });
    }
    const uploadId = client === 0 ? await upload(service.baseUrl, liveKey) : undefined;
    if (uploadId !== undefined) tell('uploaded', uploadId);
    const item = client === 1 ? await teach() : undefined;
    if (item !== undefined) tell('taught', item);
  };
  const counts = () => KINDS.map((kind) => told.filter((each) => each.kind === kind).length);
  for (let round = 1; power.failed() < failures || Math.min(...counts()) < TOLD_MIN; round += 1) {
    const suffix = FILES[round % FILES.length] ?? '';
    const writes = round % ROUNDS_PER_WRITES === 0;
    // A log is synced with each commit, anything else a few times.
    const wait = suffix === '-wal' ? randomInt(CLIENTS * TURNS_PER_ROUND) : randomInt(3);
    power.failSyncs({ wait, count: 1 + randomInt(FAIL_AT_ONCE_MAX), suffix, writes });
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => talk(client)));
    if (round % ROUNDS_PER_LIFE !== 0) continue;
    await service.stop(more.WORKERS === undefined && randomInt(2) === 0 ? 'SIGKILL' : 'SIGTERM');
    power.failSyncs({ wait: 0, count: 0 });
    service = await startService(t, { dataDir, env });
  }
  await service.stop();
  t.diagnostic(`${KINDS.join(', ')}: ${counts().join(', ')}`);
  const missing = (dir: string, position: number) =>
    missingIn(
      dir,
      dataDir,
      told.filter((each) => each.position <= position),
    );
  return judge(t, dataDir, power.read(), missing);
}

test(`STORE-12, STORE-22: ${CUTS} failed syncs, and a power cut at any moment, lose nothing that was acknowledged`, async (t) => {
  assert.deepEqual(await lose(t, CUTS, {}), []);
});

test('STORE-22: nor do they with WORKERS=4, which hold the files open for each other', { skip: redisMissing() }, async (t) => {
  const redis = await startRedis(t);
  assert.deepEqual(await lose(t, CUTS / 10, { REDIS_URL: redis.url, WORKERS: '4' }), []);
});

/** What is missing after cuts of a writer whose processes did `jobs`, one after the other. */
async function lostByWriters(t: TestContext, jobs: readonly string[]): Promise<[string, number][]> {
  const dataDir = temporaryDir(t);
  const power = powerJournal(t, dataDir);
  const told: { position: number; note: string }[] = [];
  for (const job of jobs) {
    const writer = fileURLToPath(new URL('./power-writer.js', import.meta.url));
    const child = spawn(process.execPath, [writer, join(dataDir, 'a.sqlite'), job], {
      env: { ...process.env, ...power.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for (const line of (await text(child.stdout)).trim().split('\n'))
      told.push({ position: Number.parseInt(line, 10), note: line.slice(line.indexOf(' ') + 1) });
  }
  assert.ok(told.length > 0);
  const notesIn = (dir: string) => {
    const db = new Database(join(dir, 'a.sqlite'));
    try {
      const check = db.pragma('integrity_check', { simple: true });
      if (check !== 'ok') return [];
      return (db.prepare('SELECT text FROM notes').all() as { text: string }[]).map((row) => row.text);
    } catch {
      // Damaged, or without its table.
      return [];
    } finally {
      db.close();
    }
  };
  return judge(t, dataDir, power.read(), (dir, position) => {
    const expected = told.filter((each) => each.position <= position);
    if (expected.length === 0) return [];
    const found = new Set(notesIn(dir));
    return expected.map(({ note }) => note).filter((note) => !found.has(note));
  });
}

test('STORE-22: a sync of the file itself that failed loses nothing of what was moved there before it', async (t) => {
  assert.deepEqual(await lostByWriters(t, ['move']), []);
});

test('STORE-22: of a log that a process found, and cannot put on disk at first, nothing is moved into the file', async (t) => {
  assert.deepEqual(await lostByWriters(t, ['leaveLog', 'findLog']), []);
});

test('RUN-29: the token that token --rotate printed is the one that a power cut leaves', async (t) => {
  const dataDir = temporaryDir(t);
  const file = dataLayout(dataDir).operatorToken;
  openOperatorToken(file, undefined);
  const power = powerJournal(t, dataDir);
  const { code, stdout, stderr } = await runCli(['token', '--rotate'], dataDir, power.env);
  assert.equal(code, 0, stderr);
  const left = temporaryDir(t);
  replay(power.read(), (disk) => disk.leave(dataDir, left));
  assert.equal(readFileSync(dataLayout(left).operatorToken, 'utf8').trim(), digestOfToken(stdout.trim()));
});
