/** The sum of turn costs equals the credit moved, also when the service is killed all the time. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Pool } from 'undici';
import { openStorage } from '../../storage/storage.ts';
import { createOperator, createTestApp, HANDSHAKE, type TestApp } from '../support/client.ts';
import { auditLedger } from '../support/ledger-audit.ts';
import { isBrokenConnection } from '../support/partial.ts';
import { scaled } from '../support/scale.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const TURNS = scaled(10_000, 2_000);
/** As many at a time; each goes on with its conversation for some turns and then begins another. */
const CLIENTS = 32;
/** A quarter of the clients has a test key, which may begin 200 conversations a month. */
const TURNS_PER_CONVERSATION = 16;
/** Turns that are answered between a start and a kill. */
const TURNS_PER_LIFE = [scaled(500, 200), scaled(1_500, 800)] as const;
/** A turn costs some cents, so that all of them use up more than the plan's credit. */
const ENV = {
  // Killed here for another reason than what it answers.
  TURN_LOSSES_MAX: '999',
  DEMO: 'off',
  LOG_LEVEL: 'silent',
  MODEL_PRICES: '{"offline":{"input":1000,"output":1000}}',
};

/** The service on one data directory, killed again and again and started each time. */
class Mortal {
  readonly #t: TestContext;
  readonly dataDir: string;
  #life: Promise<{ service: RunningService; pool: Pool }> | null = null;
  #dying = Promise.resolve();
  #turnsLeft = 0;
  kills = 0;

  constructor(t: TestContext) {
    this.#t = t;
    this.dataDir = temporaryDir(t);
  }

  up(): Promise<{ service: RunningService; pool: Pool }> {
    this.#life ??= this.#start();
    return this.#life;
  }

  async #start() {
    const service = await startService(this.#t, { dataDir: this.dataDir, env: ENV });
    const pool = new Pool(service.baseUrl, { connections: CLIENTS });
    this.#turnsLeft = randomInt(...TURNS_PER_LIFE);
    return { service, pool };
  }

  /** A turn's end was heard. */
  answered(): void {
    this.#turnsLeft -= 1;
    if (this.#turnsLeft === 0) this.#dying = this.#kill();
  }

  async #kill(): Promise<void> {
    this.kills += 1;
    const { service, pool } = await this.up();
    await service.stop('SIGKILL');
    this.#life = null;
    await pool.destroy();
  }

  /** No more kills from here on. */
  async rest(): Promise<void> {
    await this.#dying;
    const { service, pool } = await this.up();
    await pool.close();
    assert.equal(await service.stop(), 0);
  }
}

interface Said {
  readonly turnId: string;
  readonly key: string;
  readonly deviceId: string;
}

/** Sends the turn until its end was heard; returns the conversation it was in. */
async function say(mortal: Mortal, { turnId, key, deviceId }: Said, conversationId: string | undefined): Promise<string> {
  const body = JSON.stringify({
    turn_id: turnId,
    client: HANDSHAKE,
    message: { text: 'Hello' },
    ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
  });
  const headers = { 'X-Service-Key': key, 'X-Service-Device': deviceId, 'Content-Type': 'application/json' };
  for (;;) {
    try {
      const { pool } = await mortal.up();
      const answer = await pool.request({ method: 'POST', path: '/v1/chat', headers, body });
      const text = await answer.body.text();
      if (text.includes('"status":"completed"')) {
        mortal.answered();
        return /"conversation_id":"(cnv_[0-9a-z]+)"/.exec(text)?.[1] ?? assert.fail(text);
      }
      assert.match(text, /"retryable":true/, 'a turn that did not end may be tried again');
    } catch (error) {
      if (!isBrokenConnection(error) && !['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'].includes(String((error as { code?: string }).code)))
        throw error;
    }
  }
}

/** Two organisations: one with two apps, without hard cap and topped up by hand; one that also talks on its test key. */
async function makeKeys(mortal: Mortal): Promise<{ apps: readonly TestApp[]; keys: readonly string[] }> {
  const { service } = await mortal.up();
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const apps = [
    await createTestApp(service.baseUrl, service.operatorToken, { hard_cap: false }),
    await createTestApp(service.baseUrl, service.operatorToken, { hard_cap: false }),
  ] as const;
  const [first, second] = apps;
  const patched = await operator('PATCH', `/orgs/${first.organisationId}`, {
    plan: 'growth',
    members: [{ email: 'ada@example.com' }],
    auto_top_up: { enabled: true, amount_usd: 30 },
  });
  assert.equal(patched.status, 200, patched.text);
  await operator('PATCH', `/orgs/${second.organisationId}`, { plan: 'free' });
  const made = await operator('POST', `/orgs/${first.organisationId}/apps`, {
    name: 'Second app',
    hard_cap: false,
    messages_per_minute: 10_000,
    messages_per_day: 1_000_000,
    messages_per_minute_per_address: 0,
    messages_per_day_per_address: 0,
  });
  const extra = made.json as { app: { id: string }; keys: { live: string } };
  await operator('POST', `/apps/${extra.app.id}/go-live`);
  return { apps, keys: [first.liveKey, extra.keys.live, second.liveKey, second.testKey] };
}

test(`LIMIT-16, LIMIT-24: after ${TURNS} turns with kill -9 again and again the ledger adds up, and each answered turn is charged once`, async (t) => {
  const mortal = new Mortal(t);
  const { apps, keys } = await makeKeys(mortal);
  const said: Said[] = [];
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const key = keys[client % keys.length] ?? '';
      const deviceId = client.toString(16).padStart(32, '0');
      for (let turn = 0, conversationId: string | undefined; turn < TURNS / CLIENTS; turn++) {
        if (turn % TURNS_PER_CONVERSATION === 0) conversationId = undefined;
        const each = { turnId: randomUUID(), key, deviceId };
        conversationId = await say(mortal, each, conversationId);
        said.push(each);
      }
    }),
  );
  await mortal.rest();
  t.diagnostic(`${mortal.kills} kills`);
  assert.ok(mortal.kills >= 2, 'the service was killed in the middle');
  const storage = openStorage({ dataDir: mortal.dataDir, masterKey: undefined, onFatal: (error) => assert.fail(error) });
  t.after(() => storage.close());
  const charged = new Set<string>();
  for (const { organisationId } of apps) {
    const db = storage.organisation(organisationId);
    const { liveMicroUsd } = auditLedger(storage, organisationId, Date.now());
    assert.ok(liveMicroUsd > 0);
    const rows = db
      .statement('SELECT t.turn_id, t.state, count(c.turn) AS charges FROM turns t LEFT JOIN charges c ON c.turn = t.id GROUP BY t.id')
      .all({});
    for (const row of rows) {
      assert.deepEqual([row.state, row.charges], ['completed', 1], String(row.turn_id));
      charged.add(String(row.turn_id));
    }
    const counted = db.statement('SELECT sum(turns) AS turns FROM usage_days').get({})?.turns;
    assert.equal(counted, rows.length, 'each turn is counted once');
    const unpaid = db.statement('SELECT count(*) AS n FROM charges WHERE turn NOT IN (SELECT id FROM turns)').get({})?.n;
    assert.equal(unpaid, 0);
  }
  assert.equal(said.length, Math.ceil(TURNS / CLIENTS) * CLIENTS);
  for (const { turnId } of said) assert.ok(charged.delete(turnId), 'an answered turn has its charge');
  assert.equal(charged.size, 0, 'and no other turn has one');
});
