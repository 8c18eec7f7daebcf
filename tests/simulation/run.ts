/**
 * One run of the simulated world: what happens is drawn from its seed, or given; what must hold is looked at after every step and once all is
 * calm again.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { takeInActions } from '../../actors/configuration/actions.ts';
import { readTurnTraces } from '../../actors/traces/instances.ts';
import { chatTurn } from '../../machines/chat-turn.ts';
import { invocation } from '../../machines/invocation.ts';
import { replay } from '../../machines/replay.ts';
import { actionsBody } from '../../protocol/setup/actions.ts';
import { createApp } from '../../storage/apps/app-creation.ts';
import { usageByApp } from '../../storage/billing/usage.ts';
import { dataLayout } from '../../storage/data-layout.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { reading } from '../../storage/sqlite/database.ts';
import { checkObservations, type EpochSample } from '../support/history.ts';
import { CARD_ACTION } from '../support/paced-model.ts';
import { checkHeld, heldRows } from '../support/stored-history.ts';
import { beginDisk, cutPower, dataDirOf, failLogSyncs, OwnedDatabase } from './disk.ts';
import { beginNetwork, calm, cutSockets, faults, type ServerCall, server, setRedis } from './network.ts';
import { beginNodes, logged, MODEL_CALM, modelling, SimulatedNode } from './nodes.ts';
import { ACTIVE_MS, CELLS, CONVERSATIONS, drawOps, NODES, type Op } from './ops.ts';
import { People, type SimulatedApp } from './people.ts';
import { fencing, type Moment, prepareThreads } from './threads.ts';
import { BEGINS_AT_MS, refillIds, uncaught, world } from './world.ts';

/** Once faults are over, what was asked has this long to be answered. */
const REST_MS = 60_000;

interface Ground {
  readonly templates: ReadonlyMap<string, string>;
  readonly apps: readonly SimulatedApp[];
}
let ground: Ground | undefined;

const envOf = (cell: string) => ({ CELL_ID: cell, CELL_URL: `http://127.0.0.1:1/${cell}` });
const noStep = () => {};

/** A data directory with an app for each cell, made once by the program itself; each run begins with copies of them. */
async function prepare(): Promise<Ground> {
  if (ground !== undefined) return ground;
  await prepareThreads();
  // Else those of a killed process stay open, and it keeps its locks.
  if ((await import('better-sqlite3')).default !== OwnedDatabase) throw new Error('the program opens databases of its own');
  // Loaded when a node needs them, which takes a time of its own.
  for (const path of ['join-cluster', 'join-cells']) await import(`../../program/${path}.js`);
  const folder = mkdtempSync(join(tmpdir(), 'simulation-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  world.begin(0);
  beginNetwork();
  beginDisk(new Map());
  const apps: SimulatedApp[] = [];
  for (const cell of CELLS) {
    rmSync(dataDirOf(cell), { recursive: true, force: true });
    const node = new SimulatedNode(cell, `${cell}0`);
    node.start(envOf(cell));
    await world.run(() => node.isUp, REST_MS, noStep);
    if (!node.isUp) throw node.failure ?? new Error('the first node did not start');
    let made: SimulatedApp | undefined;
    // Made once it is answered: a node that drains before would break the answer off.
    const keep = (app: SimulatedApp) => {
      made = app;
    };
    node.call(({ services }) => makeApp(cell, services.storage)).then(keep, (error) => uncaught.push(error));
    await world.run(() => made !== undefined, REST_MS, noStep);
    if (made === undefined) throw uncaught[0];
    apps.push(made);
    node.drain();
    await world.run(() => !node.owner.isAlive, REST_MS, noStep);
    cpSync(dataDirOf(cell), join(folder, cell), { recursive: true });
    // A copy that says which directory it is would wait whether that one lives.
    rmSync(join(folder, cell, 'directory-id'), { force: true });
  }
  ground = { templates: new Map(CELLS.map((cell) => [cell, join(folder, cell)])), apps };
  return ground;
}

const ACTION = {
  external_key: 'move',
  name: CARD_ACTION,
  description: 'Moves a delivery.',
  method: 'POST',
  risk: 'write',
  confirm_template: 'Move the delivery?',
  url_template: 'http://127.0.0.1:1/move',
  auth: 'user',
};

async function makeApp(cell: string, storage: NonNullable<SimulatedNode['composed']>['services']['storage']): Promise<SimulatedApp> {
  const nowMs = BEGINS_AT_MS;
  const organisationId = `org_00000000000000000000000${cell === 'a' ? 1 : 2}`;
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id: organisationId, name: cell, plan: 'scale', members: [], autoTopUp, nowMs });
  const settings = { messages_per_day: 1_000_000, messages_per_day_per_address: 0, record_confirmations: true };
  const { app } = await createApp(storage, { organisationId, name: 'Shop', platformHint: 'web', settings, nowMs });
  const { items } = v.parse(actionsBody, { items: [ACTION] });
  const { failed, results } = await takeInActions(
    storage,
    { organisationId, appId: app.id, origin: 'console' },
    items,
    nowMs,
    'development',
  );
  if (failed > 0) throw new Error(JSON.stringify(results));
  await storage.write(organisationId, 'goLive', { appId: app.id, organisationId, nowMs });
  return { cell, organisationId, appId: app.id };
}

export interface Outcome {
  readonly seed: number;
  readonly ops: readonly Op[];
  /** The digest of all that happened, in its order. */
  readonly digest: string;
  readonly steps: number;
  /** What did not hold; empty: all did. */
  readonly broken: readonly string[];
}

/** Of questions that were asked at once their rows say which came first. */
function placeQuestions({ history, rows }: People): void {
  const asked = new Map<string, number>();
  type Row = { turnId: string; id: string };
  for (const { turnId, id } of rows.prepare('SELECT turn_id AS turnId, conversation_id AS id FROM turns ORDER BY id').all() as Row[]) {
    const turn = history.turns.get(turnId);
    const ordinal = (asked.get(id) ?? 0) + (turn?.text === '' ? 0 : 1);
    asked.set(id, ordinal);
    if (turn !== undefined) history.intend({ ...turn, ordinal });
  }
}

class Run {
  readonly nodes: readonly SimulatedNode[];
  readonly people: readonly People[];
  readonly broken: string[] = [];
  readonly #called = new Map<string, number>();
  readonly #upon = new Set<Op & { kind: 'upon' }>();
  #begun = 0;
  #isCalm = false;

  constructor({ apps }: Ground) {
    this.nodes = NODES.map(([cell, name]) => new SimulatedNode(cell, name));
    this.people = apps.map((app) => new People(app, this.nodes, CONVERSATIONS));
    const idOf = ({ headers }: ServerCall) => String(headers['idempotency-key'] ?? headers['Idempotency-Key']);
    server.sent = (call) => this.#isSent(idOf(call));
    server.called = (call) => this.#isCalled(idOf(call));
    fencing.broke = (what) => this.broken.push(what);
    fencing.moment = (name, when) => this.#strikes(name, when);
  }

  /** A write goes out only while its row says so: not when the process was given up meanwhile, and the person told that nobody knows. */
  #isSent(id: string): void {
    const states = this.people.flatMap(({ rows }) => rows.prepare('SELECT state FROM invocations WHERE id = ?').all(id));
    const { state } = (states[0] ?? { state: 'in no row' }) as { state: string };
    if (state !== 'executing') this.broken.push(`sent while it is executing: ${id} is sent and ${state}`);
  }

  /** A process is struck in the moment of a write. */
  #strikes(write: string, when: Moment): void {
    const op = [...this.#upon].find((one) => one.write === write && one.when === when);
    const node = this.nodes.find(({ owner }) => owner === world.current);
    if (op === undefined || node === undefined) return;
    this.#upon.delete(op);
    world.after(0, null, () => this.do({ ...op, kind: op.does, node: node.name, downMs: op.forMs } as Op));
  }

  /** A write reaches the app's server once, and only after somebody confirmed it. */
  #isCalled(id: string): void {
    const count = (this.#called.get(id) ?? 0) + 1;
    this.#called.set(id, count);
    world.note(`the app's server is called for ${id}`);
    if (count > 1) this.broken.push(`executed once: ${id} reached the app's server ${count} times`);
    const rows = this.people.map(({ rows }) => rows.prepare('SELECT confirmed_at_ms AS at FROM invocations WHERE id = ?').get(id));
    if (!rows.some((row) => typeof (row as { at: unknown } | undefined)?.at === 'number'))
      this.broken.push(`confirmed before executed: nobody confirmed ${id}`);
  }

  /** Looked at after each step. */
  step(): void {
    if (this.#begun !== fencing.begun) {
      this.#begun = fencing.begun;
      for (const { history, rows } of this.people)
        for (const row of rows.prepare('SELECT id AS conversationId, epoch, owner FROM conversations').all())
          history.sample(row as EpochSample);
    }
    for (const error of uncaught.splice(0)) this.broken.push(`nothing is thrown: ${error instanceof Error ? error.stack : error}`);
    for (const { broken } of this.people) this.broken.push(...broken.splice(0));
    // An error that is nobody's but the program's: faults have causes that are told.
    for (const line of logged.splice(0)) if (/"code":"failed"/.test(line)) this.broken.push(`errors have causes: ${line}`);
  }

  start(name: string): void {
    const node = this.nodes.find((one) => one.name === name);
    if (node !== undefined) node.start(envOf(node.cell));
  }

  #node = (name: string) => this.nodes.find((one) => one.name === name) as SimulatedNode;

  do(op: Op): void {
    if (this.#isCalm) return;
    world.note(JSON.stringify(op));
    const later = (ms: number, run: () => void) => world.after(ms, null, run);
    const peopleOf = (cell: string) => this.people[CELLS.indexOf(cell)];
    switch (op.kind) {
      case 'ask':
        peopleOf(op.cell)?.ask(op);
        return;
      case 'stop':
        peopleOf(op.cell)?.stop(op.nth);
        return;
      case 'kill':
        this.#node(op.node).kill();
        later(op.downMs, () => this.start(op.node));
        return;
      case 'drain':
        this.#node(op.node).drain(() => later(op.downMs, () => this.start(op.node)));
        return;
      case 'suspend': {
        const { owner } = this.#node(op.node);
        owner.isSuspended = true;
        later(op.forMs, () => world.wake(owner));
        return;
      }
      case 'upon':
        this.#upon.add(op);
        return;
      case 'power':
        for (const node of this.nodes) if (node.cell === op.cell) node.kill();
        cutPower(op.cell);
        for (const { cell, name } of this.nodes) if (cell === op.cell) later(op.downMs, () => this.start(name));
        return;
      case 'redis':
        setRedis(true);
        later(op.forMs, () => setRedis(false));
        return;
      case 'cut':
        cutSockets(null, op.percent);
        return;
      case 'sync':
        failLogSyncs(op.wait, op.count);
        return;
      case 'clock':
        world.setMs += op.byMs;
        return;
      case 'fault': {
        const before = faults[op.of];
        faults[op.of] = op.to;
        later(op.forMs, () => (faults[op.of] = before));
        return;
      }
      case 'model':
        Object.assign(modelling, { fails: op.fails, everyMs: op.everyMs });
    }
  }

  /** Nothing goes wrong from here on. */
  heal(): void {
    this.#isCalm = true;
    world.note('all is calm');
    calm();
    failLogSyncs(0, 0);
    Object.assign(modelling, MODEL_CALM);
    for (const node of this.nodes) {
      if (node.owner.isSuspended) world.wake(node.owner);
      node.start(envOf(node.cell));
    }
  }

  get isQuiet(): boolean {
    return this.people.every(({ waiting }) => waiting === 0);
  }

  /** What the rows and the history say in the end. */
  judge(apps: readonly SimulatedApp[]): void {
    for (const [index, people] of this.people.entries()) {
      const { cell, organisationId } = apps[index] as SimulatedApp;
      placeQuestions(people);
      const { turns, messages, charged, orphans } = heldRows(people.rows);
      const path = dataLayout(dataDirOf(cell)).organisation(organisationId);
      const usage = reading(path, (db) => {
        this.#judgeTraces(people, db);
        return usageByApp(db, '2026-11');
      });
      const ledger = {
        ...{ charged, orphans },
        spent: usage.reduce((sum, app) => sum + app.liveMicroUsd, 0),
        countedTurns: usage.reduce((sum, app) => sum + app.liveTurns, 0),
      };
      const held = { turns, messages, served: messages, ledger, modelCalls: new Map<string, number>(), executions: [] };
      for (const { rule, of, detail } of [...checkObservations(people.history), ...checkHeld(people.history, held)])
        this.broken.push(`${rule}: ${of} ${detail}`);
      this.#judgeCalls(people);
    }
  }

  #judgeTraces({ rows }: People, db: Connection): void {
    for (const { id, state } of rows.prepare('SELECT id, state FROM turns').all() as { id: number; state: string }[])
      for (const trace of readTurnTraces(db, id)) {
        const difference = replay(trace.machine === 'chat-turn' ? chatTurn : invocation, trace).difference;
        if (difference !== null) this.broken.push(`traces replay: turn ${id}: ${difference.sentence}`);
        else if (trace.machine === 'chat-turn' && trace.instance === String(id) && trace.steps.at(-1)?.to !== state)
          this.broken.push(`traces agree with rows: turn ${id} is ${state}, its trace ends in ${trace.steps.at(-1)?.to}`);
      }
  }

  /** What a person was told of a card is what its row says, and what was said to be done was done. */
  #judgeCalls({ rows, answers }: People): void {
    for (const { id, state, confirmed } of rows.prepare('SELECT id, state, confirmed_at_ms AS confirmed FROM invocations').all() as {
      id: string;
      state: string;
      confirmed: number | null;
    }[]) {
      const told = answers.get(id);
      if (told !== undefined && (told === 'confirmed') !== (confirmed !== null))
        this.broken.push(`what was acknowledged is stored: ${id} was ${told}, and is ${state}`);
      if (state === 'succeeded' && !this.#called.has(id)) this.broken.push(`what is said to be done was done: ${id}`);
    }
  }
}

/** Runs a seed, or what is given instead of what it draws. */
export async function simulate(seed: number, ops: readonly Op[] = drawOps(seed)): Promise<Outcome> {
  const made = await prepare();
  world.begin(seed);
  beginNetwork();
  beginNodes();
  refillIds();
  beginDisk(made.templates);
  const run = new Run(made);
  for (const { name } of run.nodes) run.start(name);
  const step = () => run.step();
  await world.run(() => run.nodes.every(({ isUp }) => isUp), REST_MS, step);
  for (const op of ops) world.after(op.atMs, null, () => run.do(op));
  await world.run(() => run.broken.length > 0, ACTIVE_MS, step);
  if (run.broken.length === 0) {
    run.heal();
    await world.run(() => run.isQuiet || run.broken.length > 0, REST_MS, step);
    if (run.broken.length === 0) run.judge(made.apps);
  }
  world.note(`ends: ${run.broken.join(' | ')}`);
  for (const node of run.nodes) node.kill();
  return { seed, ops, digest: world.digest(), steps: world.steps, broken: run.broken };
}
