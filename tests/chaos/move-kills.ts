/** An organisation that moves between two cells while their programs are killed from outside, and people talk to it all along. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createClient, createOperator, createTestApp, type TestApp } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { isBrokenConnection } from '../support/partial.ts';
import { startRedis } from '../support/redis.ts';
import { type RunningService, startService } from '../support/service.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

export const KILL_STEPS = ['begun', 'sealed', 'switched', 'done'] as const;
export type KillStep = (typeof KILL_STEPS)[number];
export type Victim = 'source' | 'target';

/** A program that was killed starts, finds the move and waits until nobody drives it; a target is retried with pauses of up to 5 s. */
const ARRIVES_WITHIN_MS = 60_000;
/** A turn that finds its organisation on its way is tried again until it is there. */
const TURN_WITHIN_MS = 60_000;
const TALKERS = 4;
/** Some twenty seconds: a conversation outlives a move. */
const TURNS_PER_CONVERSATION = 200;
const PAUSE_MS = 100;

/** A cell of one program, which is started again at the same address. */
class LivingCell {
  readonly id: string;
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly #t: TestContext;
  readonly #env: Readonly<Record<string, string>>;
  #service: RunningService | undefined;
  #control: Database.Database | undefined;

  constructor(t: TestContext, id: string, port: number, env: Readonly<Record<string, string>>) {
    this.#t = t;
    this.id = id;
    this.dataDir = temporaryDir(t);
    this.baseUrl = `http://127.0.0.1:${port}`;
    const own = { PORT: String(port), CELL_ID: id, CELL_URL: this.baseUrl, NODE_ID: id };
    this.#env = { DEMO: 'off', LOG_LEVEL: process.env.MOVE_LOG ?? 'silent', TURN_LOSSES_MAX: '999', ...env, ...own };
    t.after(() => this.#control?.close());
  }

  async start(): Promise<void> {
    this.#service = await startService(this.#t, { dataDir: this.dataDir, env: this.#env });
  }

  async kill(): Promise<void> {
    await this.#service?.stop('SIGKILL');
  }

  /** What the program has written so far. */
  output(): string {
    return this.#service?.output().stderr ?? '';
  }

  step(organisationId: string): string | undefined {
    this.#control ??= new Database(join(this.dataDir, 'control.sqlite'), { readonly: true });
    const row = this.#control.prepare('SELECT step FROM moves WHERE organisation_id = ?').get(organisationId) as
      | { step: string }
      | undefined;
    return row?.step;
  }

  open(organisationId: string): Database.Database | undefined {
    const path = join(this.dataDir, 'organisations', `${organisationId}.sqlite`);
    return existsSync(path) ? new Database(path, { readonly: true }) : undefined;
  }

  takesWrites(organisationId: string): boolean {
    const db = this.open(organisationId);
    if (db === undefined) return false;
    try {
      const seal = db.prepare('SELECT sealed_at_ms FROM seal').get() as { sealed_at_ms: number } | undefined;
      return seal === undefined || seal.sealed_at_ms === 0;
    } finally {
      db.close();
    }
  }
}

interface Said {
  readonly app: TestApp;
  /** Turns whose end somebody has read. */
  readonly acknowledged: Set<string>;
}

export interface MoveWorld extends Said {
  readonly a: LivingCell;
  readonly b: LivingCell;
  readonly operatorToken: string;
  /** Ends the talking. */
  rest(): Promise<void>;
}

/** Says something once, however often it has to be sent, to whichever cell. Returns its conversation. */
async function sayOnce(
  cells: readonly LivingCell[],
  { app, acknowledged }: Said,
  deviceId: string,
  conversationId?: string,
): Promise<string> {
  const turnId = randomUUID();
  const body = {
    turn_id: turnId,
    message: { text: 'hello' },
    ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
  };
  const endMs = performance.now() + TURN_WITHIN_MS;
  for (let at = 0; ; at++) {
    const cell = cells[at % cells.length] as LivingCell;
    assert.ok(performance.now() < endMs, `turn ${turnId} is not answered`);
    try {
      const { events, status, text } = await createClient(cell.baseUrl, app.liveKey, deviceId).chat(body);
      const end = events.find(({ type }) => type === 'turn.end');
      if (end !== undefined && end.status !== 'error') {
        acknowledged.add(turnId);
        const said = String(events.find(({ type }) => type === 'turn.start')?.conversation_id);
        if (conversationId !== undefined) assert.equal(said, conversationId, 'a conversation goes on where it was');
        return said;
      }
      const error = events.find(({ type }) => type === 'error');
      assert.ok(status >= 500 || error?.retryable === true || events.length === 0, `${status} ${text}`);
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
    }
    await pause(50);
  }
}

/** Two cells, an organisation on the first, and people who talk to it. */
export async function prepareMoves(t: TestContext): Promise<MoveWorld> {
  const redis = await startRedis(t);
  const operatorToken = randomBytes(24).toString('base64url');
  const env = { REDIS_URL: redis.url, MASTER_KEY: randomBytes(32).toString('base64'), OPERATOR_TOKEN: operatorToken };
  const [a, b] = [new LivingCell(t, 'a', await freePort(), env), new LivingCell(t, 'b', await freePort(), env)];
  await Promise.all([a.start(), b.start()]);
  const app = await createTestApp(a.baseUrl, operatorToken, { messages_per_day: 10_000_000 });
  const acknowledged = new Set<string>();
  let resting = false;
  const talk = async (deviceId: string, cells: readonly LivingCell[]) => {
    while (!resting) {
      const conversationId = await sayOnce(cells, { app, acknowledged }, deviceId);
      // On whichever cell it is by then, whoever owned it there.
      for (let turn = 1; turn < TURNS_PER_CONVERSATION && !resting; turn++) {
        await sayOnce(cells, { app, acknowledged }, deviceId, conversationId);
        await pause(PAUSE_MS);
      }
    }
  };
  const talkers = Array.from({ length: TALKERS }, (_, at) => talk(String(at).repeat(32), at % 2 === 0 ? [a, b] : [b, a]));
  return {
    a,
    b,
    app,
    operatorToken,
    acknowledged,
    async rest() {
      resting = true;
      await Promise.all(talkers);
    },
  };
}

async function untilStep(world: MoveWorld, source: LivingCell, atLeast: KillStep): Promise<void> {
  const { a, b, app } = world;
  const wanted = KILL_STEPS.slice(KILL_STEPS.indexOf(atLeast)) as readonly string[];
  const endMs = performance.now() + ARRIVES_WITHIN_MS;
  for (let step = source.step(app.organisationId); step === undefined || !wanted.includes(step); step = source.step(app.organisationId)) {
    assert.ok(!(a.takesWrites(app.organisationId) && b.takesWrites(app.organisationId)), `two copies take writes at ${step}`);
    assert.ok(step !== 'aborted' && performance.now() < endMs, `the move stays at ${step}: ${a.output()}${b.output()}`);
    await pause(1);
  }
}

/** Asks for the move until the cell says that it has begun: it may be down. */
async function ask(world: MoveWorld, source: LivingCell, target: LivingCell): Promise<void> {
  const operator = createOperator(source.baseUrl, world.operatorToken);
  let said = '';
  const begun = async () => {
    const { status, text } = await operator('POST', `/orgs/${world.app.organisationId}/move`, { cell: target.id });
    said = `${status} ${text}`;
    return status === 202;
  };
  await eventually(begun, ARRIVES_WITHIN_MS, () => said);
}

/** Moves the organisation, kills one of the two when the move has come to this step, and waits until it has arrived all the same. */
export async function moveAndKill(world: MoveWorld, source: LivingCell, target: LivingCell, step: KillStep, victim: Victim): Promise<void> {
  const { organisationId } = world.app;
  await ask(world, source, target);
  await untilStep(world, source, step);
  const dead = victim === 'source' ? source : target;
  await dead.kill();
  await dead.start();
  await untilStep(world, source, 'done');
  assert.deepEqual([source.takesWrites(organisationId), target.takesWrites(organisationId)], [false, true]);
}

/** Everything that somebody was told is where the organisation is now, once. */
export function proveNothingLost({ acknowledged, app }: MoveWorld, home: LivingCell): void {
  const db = home.open(app.organisationId);
  assert.ok(db);
  try {
    const rows = db
      .prepare('SELECT turn_id, ended_at_ms, (SELECT count(*) FROM charges c WHERE c.turn = turns.id) AS charges FROM turns')
      .all() as {
      turn_id: string;
      ended_at_ms: number | null;
      charges: number;
    }[];
    const held = new Map(rows.map((row) => [row.turn_id, row]));
    const lost = [...acknowledged].filter((turnId) => held.get(turnId)?.ended_at_ms == null);
    assert.deepEqual(lost, [], 'turns that were acknowledged and are not there');
    const doubled = [...acknowledged].filter((turnId) => held.get(turnId)?.charges !== 1);
    assert.deepEqual(doubled, [], 'turns that were not charged once');
  } finally {
    db.close();
  }
}
