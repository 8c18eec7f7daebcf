/** What a client was told is on disk, whenever the process is killed. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { createClient, createOperator, createTestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { follow } from '../support/partial.ts';
import { scaled } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../support/upstream.ts';

const KILLS = scaled(50, 10);
const CLIENTS = 8;
/** Messages that are acknowledged between a start and a kill. */
const TURNS_PER_LIFE_MAX = 50;
/** Pages that one device is given in a minute; a process that starts anew counts from nothing. */
const PAGES_PER_MINUTE = 600;

interface Acknowledged {
  readonly conversationId: string;
  readonly messageId: string;
  readonly said: string;
  /** Text of the finished block, once `block.ready` was seen. */
  answered?: string;
  ended?: boolean;
}

interface StoredMessage {
  readonly id: string;
  readonly role: string;
  readonly blocks: readonly { body: { md?: string } }[];
}

function integrityOf(dataDir: string): string[] {
  const files = [
    join(dataDir, 'control.sqlite'),
    ...readdirSync(join(dataDir, 'organisations')).map((name) => join(dataDir, 'organisations', name)),
  ];
  return files
    .filter((file) => file.endsWith('.sqlite'))
    .map((file) => {
      const db = new Database(file);
      const [row] = db.pragma('integrity_check') as { integrity_check: string }[];
      db.close();
      return row?.integrity_check ?? 'nothing';
    });
}

/** Sends one message after another until the service is gone; notes what it was told. */
async function load(baseUrl: string, key: string, acknowledged: Map<string, Acknowledged>): Promise<void> {
  for (;;) {
    const turnId = randomUUID();
    const said = `message ${turnId}`;
    const ended = await follow(baseUrl, key, { turn_id: turnId, message: { text: said } }, (event) => {
      if (event.type === 'turn.start') {
        acknowledged.set(turnId, { conversationId: String(event.conversation_id), messageId: String(event.message_id), said });
      }
      const known = acknowledged.get(turnId);
      if (known === undefined) return;
      if (event.type === 'block.ready') known.answered = (event.block as { body: { md: string } }).body.md;
      if (event.type === 'turn.end') known.ended = event.status === 'completed';
    });
    if (!ended) return;
  }
}

test(`STORE-1: ${KILLS} times kill -9 under load loses nothing that was acknowledged, and every file stays whole`, async (t) => {
  const upstream = await startUpstream(t, (request) => [
    { text: 'You said: ' },
    { wait: new Promise((resolve) => setImmediate(resolve)) },
    { text: request.messages.at(-1)?.content ?? '' },
  ]);
  const dataDir = temporaryDir(t);
  const env = { ...upstreamEnv(upstream), DEMO: 'off' };
  const acknowledged = new Map<string, Acknowledged>();
  let key = '';
  let organisation = '';
  for (let round = 0; round < KILLS; round++) {
    const service = await startService(t, { dataDir, env });
    if (key === '') {
      const app = await createTestApp(service.baseUrl, service.operatorToken);
      [key, organisation] = [app.liveKey, app.organisationId];
    }
    const clients = Array.from({ length: CLIENTS }, () => load(service.baseUrl, key, acknowledged));
    const enough = acknowledged.size + randomInt(1, TURNS_PER_LIFE_MAX);
    await eventually(() => acknowledged.size >= enough);
    await service.stop('SIGKILL');
    await Promise.all(clients);
    assert.deepEqual(new Set(integrityOf(dataDir)), new Set(['ok']), `after kill ${round + 1}`);
  }
  assert.ok(acknowledged.size > KILLS, 'the load was real');
  let service = await startService(t, { dataDir, env });
  let pages = 0;
  for (const [turnId, known] of acknowledged) {
    if (++pages % PAGES_PER_MINUTE === 0) {
      await service.stop('SIGTERM');
      service = await startService(t, { dataDir, env });
    }
    const client = createClient(service.baseUrl, key);
    const page = await client.send('GET', `/v1/conversations/${known.conversationId}/messages`);
    assert.equal(page.status, 200, JSON.stringify(page.json));
    const { messages } = page.json as { messages: StoredMessage[] };
    assert.deepEqual(
      messages.filter((message) => message.role === 'user').map((message) => message.blocks[0]?.body.md),
      [known.said],
      turnId,
    );
    const answer = messages.find((message) => message.id === known.messageId);
    // History has no message for an answer that was killed before its first block.
    if (known.answered !== undefined) assert.deepEqual([answer?.role, answer?.blocks[0]?.body.md], ['assistant', known.answered], turnId);
  }
  // The ledger has one charge for every turn that ended, and none for the others.
  const usage = await createOperator(service.baseUrl, service.operatorToken)('GET', `/orgs/${organisation}/usage`);
  assert.equal(usage.status, 200);
  t.diagnostic(
    `${acknowledged.size} messages acknowledged, ${[...acknowledged.values()].filter((known) => known.ended).length} of them answered to the end`,
  );
});
