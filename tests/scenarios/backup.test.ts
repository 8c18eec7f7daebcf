/** docs/backups.md: backups of a service that is written to all the time bring back everything that was acknowledged before they began. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BackupReport } from '../../storage/backup/backup.ts';
import { restore } from '../../storage/backup/restore.ts';
import { organisationIds } from '../../storage/organisations/organisations.ts';
import { openStorage } from '../../storage/storage.ts';
import { readUploadFile } from '../../storage/uploads/upload-files.ts';
import { upload } from '../gateway/runtime/uploading.ts';
import { createClient, createOperator, createTestApp, type TestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { auditLedger } from '../support/ledger-audit.ts';
import { scaled } from '../support/scale.ts';
import { type RunningService, startService } from '../support/service.ts';
import { atEnd, temporaryDir } from '../support/temporary-dir.ts';

const BACKUPS = scaled(10, 3);
/** Turns that are answered before each backup begins, and while the last one runs. */
const TURNS_BETWEEN = scaled(400, 40);
const CLIENTS = 6;
/** So often an app is made, and another one is made and deleted. */
const TURNS_PER_APP = 20;
/** A turn costs some cents, so that there is something to add up. */
const ENV = { DEMO: 'off', LOG_LEVEL: 'silent', MODEL_PRICES: '{"offline":{"input":1000,"output":1000}}' };

/** What was acknowledged: the stream of the turn said `turn.end`. */
interface Turn {
  readonly app: TestApp;
  readonly deviceId: string;
  /** As it was sent. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly uploadId: string | null;
}

interface History {
  readonly turns: Turn[];
  /** Apps made meanwhile, after their 2xx. */
  readonly made: TestApp[];
  /** Ids of apps deleted meanwhile, after their 2xx. */
  readonly deleted: string[];
}

/** Clients that talk, upload and attach, and an operator who makes organisations and deletes apps, until they are told to stop. */
function writeOn(service: RunningService, apps: readonly TestApp[]): { readonly history: History; stop(): Promise<void> } {
  const history: History = { turns: [], made: [], deleted: [] };
  let going = true;
  const talk = async (client: number): Promise<void> => {
    const app = apps[client % apps.length] as TestApp;
    const deviceId = client.toString(16).padStart(32, '0');
    const speaker = createClient(service.baseUrl, app.liveKey, deviceId);
    let conversationId: string | undefined;
    for (let n = 0; going; n += 1) {
      const text = `client ${client} says ${n}`;
      const sent =
        n % 8 === 0
          ? await upload({ baseUrl: service.baseUrl, key: app.liveKey, device: deviceId }, `words of ${text}`, 'notes.txt')
          : null;
      const attachments = sent?.id ? { attachments: [{ upload_id: sent.id }] } : {};
      const inConversation = conversationId === undefined || n % 10 === 0 ? {} : { conversation_id: conversationId };
      const body = { turn_id: randomUUID(), message: { text }, ...attachments, ...inConversation };
      const { events } = await speaker.chat(body);
      const start = events.find(({ type }) => type === 'turn.start');
      assert.equal(events.at(-1)?.status, 'completed', JSON.stringify(events.at(-1)));
      conversationId = String(start?.conversation_id);
      history.turns.push({ app, deviceId, body, text, conversationId, messageId: String(start?.message_id), uploadId: sent?.id ?? null });
    }
  };
  const operate = async (): Promise<void> => {
    const operator = createOperator(service.baseUrl, service.operatorToken);
    for (let made = 1; going; made += 1) {
      await eventually(() => !going || history.turns.length >= made * TURNS_PER_APP, 60_000);
      history.made.push(await createTestApp(service.baseUrl, service.operatorToken));
      const gone = await createTestApp(service.baseUrl, service.operatorToken);
      assert.equal((await operator('DELETE', `/apps/${gone.appId}`)).status, 200);
      history.deleted.push(gone.appId);
    }
  };
  const all = Promise.all([...Array.from({ length: CLIENTS }, (_, client) => talk(client)), operate()]);
  return {
    history,
    async stop() {
      going = false;
      await all;
    },
  };
}

function startBackup(t: TestContext, dataDir: string, target: string): ChildProcess {
  const program = fileURLToPath(new URL('./backup-process.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', program, dataDir, target], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => child.kill('SIGKILL'));
  return child;
}

async function backUpBeside(t: TestContext, dataDir: string, target: string): Promise<BackupReport> {
  const child = startBackup(t, dataDir, target);
  let text = '';
  for await (const chunk of child.stdout ?? []) text += chunk;
  return JSON.parse(text) as BackupReport;
}

interface Taken {
  readonly target: string;
  readonly report: BackupReport;
  /** What had been acknowledged when it began. */
  readonly before: { readonly [K in keyof History]: readonly History[K][number][] };
}

/** What the restored service says over HTTP of the turns that had been acknowledged. */
async function checkTurns(service: RunningService, turns: readonly Turn[]): Promise<void> {
  const conversations = new Map(turns.map((turn) => [turn.conversationId, turn]));
  for (const { app, deviceId, conversationId } of conversations.values()) {
    const client = createClient(service.baseUrl, app.liveKey, deviceId);
    const read = () => client.send('GET', `/v1/conversations/${conversationId}/messages?limit=100`);
    let answer = await read();
    // A service that has just started on a machine with much else to do may say that it is busy; clients ask again.
    await eventually(async () => {
      if (answer.status === 503) answer = await read();
      return answer.status !== 503;
    });
    const { json, status } = answer;
    assert.equal(status, 200, JSON.stringify(json));
    const { messages } = json as { messages: { id: string; role: string; blocks: unknown[]; attachments?: { upload_id: string }[] }[] };
    for (const turn of turns.filter((each) => each.conversationId === conversationId)) {
      const said = messages.find(({ role, blocks }) => role === 'user' && JSON.stringify(blocks).includes(`"${turn.text}"`));
      assert.ok(said !== undefined, `${turn.text} is there`);
      assert.deepEqual(said.attachments?.map(({ upload_id }) => upload_id) ?? [], turn.uploadId === null ? [] : [turn.uploadId]);
      const answer = messages.find(({ id }) => id === turn.messageId);
      assert.ok(answer !== undefined && answer.blocks.length > 0, `${turn.text} is answered`);
    }
  }
  const last = turns.at(-1) as Turn;
  const client = createClient(service.baseUrl, last.app.liveKey, last.deviceId);
  const again = await client.chat(last.body);
  assert.equal(again.events.find(({ type }) => type === 'turn.start')?.message_id, last.messageId, 'the same answer as before');
}

/** Apps came out whole or not at all. */
async function checkApps(service: RunningService, history: History, before: Taken['before']): Promise<void> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  for (const app of history.made) {
    const { status, text } = await operator('GET', `/apps/${app.appId}`);
    assert.ok(status === 200 || status === 404, `${app.appId}: ${status} ${text}`);
    const opened = await createClient(service.baseUrl, app.liveKey).say('Hello');
    if (before.made.includes(app)) assert.equal(status, 200, `${app.appId} had been made`);
    if (status === 200)
      assert.ok(opened.status === 200 || opened.status === 403, `${app.appId} has its key: ${opened.status} ${opened.text}`);
    else assert.equal(opened.status, 401, `${app.appId} is not there in part: ${opened.text}`);
  }
  for (const id of before.deleted) assert.equal((await operator('GET', `/apps/${id}`)).status, 404, `${id} had been deleted`);
}

/** What lies in the restored files once the service has used and closed them. */
async function checkFiles(t: TestContext, dataDir: string, { missingUploads }: BackupReport): Promise<void> {
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: assert.fail });
  t.after(() => storage.close());
  for (const organisationId of organisationIds(storage.control)) {
    const db = storage.organisation(organisationId);
    assert.deepEqual(db.statement('PRAGMA integrity_check').all(), [{ integrity_check: 'ok' }]);
    auditLedger(storage, organisationId, Date.now());
    const listed = storage.control.statement('SELECT app_id AS id FROM app_directory WHERE organisation_id = :organisationId');
    const names = listed.all({ organisationId }).map(({ id }) => id);
    for (const { id } of db.statement('SELECT id FROM apps').all()) assert.ok(names.includes(id as string), `${id} can be reached`);
    for (const { id } of db.statement('SELECT id FROM uploads').all()) {
      const bytes = await readUploadFile(storage, organisationId, id as string);
      assert.ok(bytes !== undefined || missingUploads.includes(`${organisationId}/${id}`), `${id} has its file`);
    }
  }
}

test(`BACKUP-1: ${BACKUPS} backups of a busy service each restore what was acknowledged before they began`, async (t) => {
  const dataDir = temporaryDir(t);
  const backups = temporaryDir(t);
  const service = await startService(t, { dataDir, env: ENV });
  const apps = [await createTestApp(service.baseUrl, service.operatorToken), await createTestApp(service.baseUrl, service.operatorToken)];
  const { history, stop } = writeOn(service, apps);
  const moreTurns = (from: number) => eventually(() => history.turns.length >= from + TURNS_BETWEEN, 60_000);
  await moreTurns(0);
  // One that is killed as soon as it has begun is none.
  const killed = join(backups, 'backup-1');
  const child = startBackup(t, dataDir, killed);
  await eventually(() => existsSync(join(`${killed}.partial`, 'backup')));
  child.kill('SIGKILL');
  assert.equal(existsSync(killed), false);
  const taken: Taken[] = [];
  for (let n = 1; n <= BACKUPS; n += 1) {
    const before = { turns: [...history.turns], made: [...history.made], deleted: [...history.deleted] };
    const target = join(backups, `backup-${n}`);
    taken.push({ target, report: await backUpBeside(t, dataDir, target), before });
    if (n < BACKUPS) await moreTurns(history.turns.length);
  }
  await stop();
  await service.stop();
  t.diagnostic(
    taken.map(({ report, before }) => `${report.seconds.toFixed(2)} s, ${report.rows} rows, ${before.turns.length} turns`).join('; '),
  );
  assert.ok(history.turns.length > (taken.at(-1)?.before.turns.length ?? 0), 'turns were answered while the last backup ran');
  await Promise.all(
    taken.map(async ({ target, report, before }) => {
      const restored = join(temporaryDir(t), 'data');
      await restore({ source: target, dataDir: restored, log: { info: () => undefined, warn: (_, text) => assert.fail(text) } });
      const again = await startService(t, { dataDir: restored, env: ENV });
      assert.notEqual(again.operatorToken, service.operatorToken, 'a restore mints another');
      await checkTurns(again, before.turns);
      await checkApps(again, history, before);
      assert.equal(await again.stop(), 0);
      await checkFiles(t, restored, report);
    }),
  );
});
