/** Composition: everything below the gateway, put together and ready for requests. */
import type { Logger } from 'pino';
import type { Announcer } from '../actors/announcements.ts';
import { Billing } from '../actors/billing/billing.ts';
import { createMailer } from '../actors/billing/mail.ts';
import { createPayments } from '../actors/billing/payments.ts';
import { createActionRunner } from '../actors/calls/action-runner.ts';
import { ActionTrials } from '../actors/calls/action-trial.ts';
import { Confirmations, EDIT_ABANDONED_MS } from '../actors/calls/confirmation.ts';
import { invocationDeadlines } from '../actors/calls/invocation-deadlines.ts';
import { mintNodeId } from '../actors/cluster/nodes/node-id.ts';
import { createDeadlines, nearerOf } from '../actors/deadlines.ts';
import { KnowledgeEmbedding } from '../actors/knowledge/embedding.ts';
import { KnowledgeIndexer } from '../actors/knowledge/indexer.ts';
import { createQueryEmbeddings } from '../actors/knowledge/query-embeddings.ts';
import type { Leases } from '../actors/leases.ts';
import { createNode } from '../actors/node.ts';
import { OrganisationUpkeep } from '../actors/organisation-upkeep.ts';
import { Pairings } from '../actors/pairing/pairings.ts';
import { createSetup, type Setup } from '../actors/setup/setup.ts';
import { SmokeRuns } from '../actors/smoke/run.ts';
import { TraceUpkeep } from '../actors/traces/upkeep.ts';
import { Turns } from '../actors/turns/turns.ts';
import { startUploadSweep, uploadDeadlines } from '../actors/uploads/deadlines.ts';
import { createUploadReceiver } from '../actors/uploads/upload-receiver.ts';
import { createEmbedder } from '../assistant/embeddings/embeddings.ts';
import { createAddressGuard } from '../assistant/http/address-guard.ts';
import { createHttpActionCaller } from '../assistant/http-action/call.ts';
import { createLinkReader } from '../assistant/knowledge/extraction.ts';
import { isIsolated, isLimitedBySystem, parsers } from '../assistant/parsers/parsers.ts';
import { priceTable } from '../assistant/prices.ts';
import { createLargeBodies } from '../gateway/http/large-body.ts';
import { keepRelease } from '../gateway/sdk.ts';
import { toMicroUsd } from '../protocol/money.ts';
import type { Surroundings } from '../protocol/setup/actions.ts';
import { refuseCutOffRestore } from '../storage/backup/restore.ts';
import { dataLayout, prepareDataDir } from '../storage/data-layout.ts';
import { Conditions } from '../storage/health/conditions.ts';
import { readEmbeddingModel } from '../storage/knowledge/embedding-model.ts';
import { readCellTerm } from '../storage/moving/cell-term.ts';
import { watchReplica } from '../storage/replica/replica-watch.ts';
import { lockDataDir, withStartLock } from '../storage/sqlite/lock.ts';
import { isNothingStored, isUnavailable } from '../storage/sqlite/storage-error.ts';
import { WriteLease } from '../storage/sqlite/write-lease.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import { Measures } from '../watch/measures.ts';
import type { Config } from './config.ts';
import { boundDemo, demoManifests, prepareDemo } from './demo.ts';
import type { openCell } from './join-cells.ts';
import type { joinCell } from './join-cluster.ts';
import { createCheckedModel, measuredModel, offeredModels } from './model-check.ts';
import { type ComposedNode, standAlone } from './stand-alone.ts';

const PARSERS_WITHOUT_LIMITS =
  'prlimit (util-linux) was not found: the memory of processes that read documents is bounded by V8 and by a watch only. Install it';
const PARSERS_NOT_ISOLATED =
  'the system allows no namespaces: a document that took over its parser could reach the network, sockets and processes of this user';

/** @throws Error when the directory was a cell: without its name nothing would tell whether another host took it over (CELL-18). */
function requireCellId(cluster: Config['cluster'], { control, layout }: Storage): void {
  const noted = readCellTerm(control);
  if (noted === undefined || cluster?.cell !== undefined) return;
  throw new Error(`${layout.dir} is the directory of cell "${noted.cell}", and CELL_ID is not set. Set it, with REDIS_URL, as it was.`);
}

function openData({ cluster, dataDir, embeddings, masterKey, replica }: Config, log: Logger, beside: Storage | undefined) {
  const fatal = (error: Error) => {
    if (beside !== undefined) return;
    log.fatal({ err: error }, 'the writer thread died and no write can be stored: exiting');
    log.flush();
    process.exit(1);
  };
  const shared = cluster !== undefined;
  const conditions = new Conditions(log, Date.now);
  const lock = lockDataDir(dataDir, shared ? 'shared' : 'alone');
  const replicated = replica !== undefined;
  const lease = cluster?.cell && new WriteLease();
  const options = { dataDir, masterKey, shared, replicated, lease, vectors: embeddings !== undefined, conditions, beside, onFatal: fatal };
  // One of several nodes uses files under the name by which the others know whether it lives.
  const storage = openStorage(cluster === undefined ? options : { ...options, process: mintNodeId(cluster.nodeId) });
  requireCellId(cluster, storage);
  return { lock, lease, storage };
}

async function openBilling(config: Config, storage: Storage, log: Logger, others: Announcer): Promise<Billing> {
  const { mail, stripe, platformDailyBudgetUsd } = config;
  return new Billing({
    storage,
    mailer: createMailer({ smtpUrl: mail.url, from: mail.from, outbox: storage.layout.outbox, log }),
    payments: stripe === undefined ? null : await createPayments(stripe),
    platformBudgetMicroUsd: platformDailyBudgetUsd === null ? null : toMicroUsd(platformDailyBudgetUsd),
    others,
    log,
    nowMs: Date.now,
  });
}

/** Finding passages for a question, and indexing texts and links. */
function openKnowledge(config: Config, storage: Storage, log: Logger, setup: Setup, leases: Leases) {
  const nowMs = Date.now;
  const guard = createAddressGuard({ allowPrivate: config.allowPrivateAddresses });
  const links = createLinkReader({ guard });
  const embedder = config.embeddings === undefined ? undefined : createEmbedder(config.embeddings);
  const embedding = embedder === undefined ? undefined : new KnowledgeEmbedding({ storage, embedder, log });
  const meanings = embedder === undefined ? undefined : createQueryEmbeddings({ embedder, log, nowMs });
  const onSettled = (organisationId: string, appId: string) => void setup.settled(organisationId, appId);
  const indexer = new KnowledgeIndexer({ storage, links, embedding, leases, log, nowMs, onSettled });
  return {
    guard,
    indexer,
    meanings,
    /** Another model than at the last start makes all vectors anew. */
    async noteModel(): Promise<void> {
      const model = embedder?.name ?? '';
      if (readEmbeddingModel(storage.control) !== model) await storage.writeControl('noteEmbeddingModel', { model });
    },
    async close() {
      await indexer.close();
      await embedding?.close();
      await embedder?.close();
    },
  };
}

/** Pages of earlier releases find their parts; where they cannot be kept they show words. */
function keepReleaseOf(dataDir: string, log: Logger): void {
  try {
    keepRelease(dataLayout(dataDir).webSdk);
  } catch (error) {
    log.warn(
      { err: error },
      'the files of earlier releases of the web SDK cannot be kept: pages that are open show words in the place of parts',
    );
  }
}

/** What only a node among others needs is loaded by such a node alone. */
const join: typeof joinCell = async (options) => (await import('./join-cluster.ts')).joinCell(options);
const openCells: typeof openCell = async (options) => (await import('./join-cells.ts')).openCell(options);

export type Composed = Awaited<ReturnType<typeof composeAlone>>;

/**
 * `drain`: does what SIGTERM does. `beside`: the storage of the one that serves, where this one is for the warm-up and closed before it.
 * @throws Error with one sentence when the person who starts the service can mend it.
 */
export async function compose(config: Config, log: Logger, drain: () => void, beside?: Storage): Promise<Composed> {
  // The data directory holds people's messages and the keys to them.
  process.umask(0o077);
  prepareDataDir(config.dataDir);
  refuseCutOffRestore(config.dataDir);
  if (beside === undefined) keepReleaseOf(config.dataDir, log);
  if (!isLimitedBySystem) log.warn(PARSERS_WITHOUT_LIMITS);
  if (!isIsolated()) log.warn(PARSERS_NOT_ISOLATED);
  const work = () => composeAlone(config, log, drain, beside);
  // Secrets of a first start are minted once, however many nodes start together.
  return config.cluster === undefined ? work() : withStartLock(config.dataDir, work);
}

async function composeAlone(config: Config, log: Logger, drain: () => void, beside?: Storage) {
  const { lock, lease, storage } = openData(config, log, beside);
  const nowMs = Date.now;
  const startedAtMs = nowMs();
  const { dataDir, replica: replicated } = config;
  const cluster = config.cluster && (await join({ config: config.cluster, replica: replicated, dataDir, storage, lease, log, nowMs }));
  const composed = cluster ?? standAlone(createNode({ id: 'node~alone', name: 'node', cell: null, startedAtMs }));
  const { node, others, leases } = composed;
  const deadlines = createDeadlines({ storage, log, nowMs, others });
  const noteDeadline = deadlines.note;
  const billing = await openBilling(config, storage, log, others);
  const setup = createSetup({ storage, log, node, nowMs, noteDeadline, others, mailsPlanned: (id) => billing.learn(id) });
  deadlines.watch([invocationDeadlines(storage, nowMs), uploadDeadlines(storage, nowMs), setup.sessions.deadlines()]);
  const knowledge = openKnowledge(config, storage, log, setup, leases);
  const { indexer } = knowledge;
  const surroundings: Surroundings = config.allowPrivateAddresses ? 'development' : 'production';
  const writes = { storage, indexer, nowMs, surroundings, leases, models: offeredModels(config) };
  const demo = await tryDemo(writes, config, log);
  const confirmations = new Confirmations({ storage, nowMs });
  const traces = new TraceUpkeep({ storage, log, nowMs }, config.traces);
  const upkeep = openUpkeep({ storage, confirmations, knowledge, setup, billing, deadlines, traces, log, nowMs, composed });
  const { complaint, asked, ...answering } = openAnswering(config, storage, log, knowledge);
  const turnServices = { storage, ...asked, billing, log, node, nowMs, noteDeadline, turnLossesMax: config.turnLossesMax };
  const actors = new Turns({ host: composed.host(turnServices), others });
  const smoke = new SmokeRuns({ storage, actors, leases, log, nowMs });
  const uploads = createUploadReceiver({ storage, log, nowMs, noteDeadline });
  const largeBodies = createLargeBodies();
  let sweep: ReturnType<typeof startUploadSweep> | undefined;
  const pairings = new Pairings({ storage, actors, others, log, nowMs });
  const cell = config.cluster?.cell;
  const open = cluster && cell && (await openCells({ config: cell, node: cluster, storage, log, nowMs, takeUp: upkeep.lookThrough }));
  const replica = replicated && watchReplica({ storage, lagMaxS: replicated.lagMaxS, nowMs });
  const { id } = node.get().context;
  const census = { actors: () => [...actors.host.actors(id), ...setup.sessions.actors(id)], conditions: storage.conditions, drain, node };
  return {
    model: asked.model,
    complaint,
    demo,
    actors,
    services: {
      ...{ config, storage, actors, confirmations, billing, writes, setup, smoke, uploads, largeBodies, pairings, log, nowMs, node },
      ...{ trials: answering.trials, meanings: knowledge.meanings, demo: config.demo ? { key: demo?.live } : undefined },
      cluster: composed.view(census),
      ...{ counts: composed.counts, measures: asked.measures, replica, parsersIsolated: isIsolated() },
      cells: open?.cells ?? null,
      moves: open?.moves ?? null,
    },
    /** Called once the process listens: begins the work in the background, which no request waits for. */
    begin(): void {
      composed.whenHeld(() => {
        upkeep.begin();
        traces.begin();
        sweep = startUploadSweep({ storage, log, others }, startedAtMs);
      });
    },
    /** Called after the last turn. Background work is resumed at the next start, or by another node. */
    async close(): Promise<void> {
      await open?.close();
      await upkeep.close();
      await traces.close();
      pairings.close();
      actors.host.close();
      setup.close();
      deadlines.close();
      await sweep?.close();
      await billing.close();
      await answering.close();
      await knowledge.close();
      if (beside === undefined) await parsers.close();
      await largeBodies.close();
      await composed.close();
      replica?.close();
      await storage.close();
      lock.release();
    },
  };
}

/** What turns use: the model, its prices, embeddings, and the app's backend. */
function openAnswering(config: Config, storage: Storage, log: Logger, { guard, meanings }: ReturnType<typeof openKnowledge>) {
  const measures = new Measures(parsers.deaths);
  const { model, complaint } = createCheckedModel(config.model, storage.conditions, log, config.fallbacks, (each) =>
    measuredModel(each, measures),
  );
  const caller = createHttpActionCaller({ guard });
  const runner = createActionRunner({ storage, caller });
  const prices = priceTable(config.prices);
  const runAction: typeof runner.run = async (call) => {
    const startedMs = performance.now();
    const done = await runner.run(call);
    measures.actionEnded(done.outcome, performance.now() - startedMs);
    return done;
  };
  return {
    complaint,
    trials: new ActionTrials({ storage, runner, nowMs: Date.now }),
    asked: { model, measures, prices, meanings, runAction, manifestWithout: demoManifests(storage) },
    async close(): Promise<void> {
      await caller.close();
      await runner.close();
      await model.close();
    },
  };
}

/** Without room for it the service starts without the demo, and the next start makes it. */
async function tryDemo(writes: Parameters<typeof prepareDemo>[0], config: Config, log: Logger): ReturnType<typeof prepareDemo> {
  try {
    const demo = config.demo ? await prepareDemo(writes) : undefined;
    if (config.isExposed) await boundDemo(writes);
    return demo;
  } catch (error) {
    if (!isNothingStored(error) && !isUnavailable(error)) throw error;
    log.error({ err: error }, 'creating the demo app failed: the next start tries again');
    return undefined;
  }
}

interface UnderWay {
  readonly storage: Storage;
  readonly confirmations: Confirmations;
  readonly knowledge: ReturnType<typeof openKnowledge>;
  readonly setup: Setup;
  readonly billing: Billing;
  readonly deadlines: ReturnType<typeof createDeadlines>;
  readonly traces: TraceUpkeep;
  readonly log: Logger;
  nowMs(): number;
  readonly composed: ComposedNode;
}

/** What is done for organisations in the background, each kind of it by whom it belongs to. */
function openUpkeep({ storage, confirmations, knowledge, setup, billing, deadlines, traces, log, nowMs, composed }: UnderWay) {
  const { indexer } = knowledge;
  const learn = (id: string) => {
    deadlines.look(id);
    billing.learn(id);
  };
  const upkeep = new OrganisationUpkeep({
    ...{ storage, log, nowMs, learn },
    liveness: composed.liveness,
    async resume(id) {
      learn(id);
      await indexer.resume(id);
      await setup.resume(id);
      await billing.evaluate(id);
      await traces.tidy(id);
      // Last, because it may have to see whether a change goes on.
      await confirmations.resume(id, EDIT_ABANDONED_MS);
    },
    forget(id) {
      deadlines.forget(id);
      billing.forget(id);
    },
    isUnfinished: (id) => indexer.isUnfinished(id) || confirmations.isUnfinished(id) || billing.isUnfinished(id),
    tidy: (id) => traces.tidy(id),
    next: (id) => nearerOf(nearerOf(deadlines.next(id), billing.next(id)), traces.next(id)),
  });
  const lookThrough = (id: string) => upkeep.lookThrough(id);
  const lookAgain = async () => {
    await deadlines.lookAgain();
    await billing.lookAgain();
  };
  const chores = composed.chores({ storage, organisationIds: () => upkeep.left(), resume: lookThrough, lookAgain, log });
  return {
    lookThrough,
    begin(): void {
      upkeep.begin(chores.alone());
      knowledge.noteModel().catch((error: unknown) => {
        log.error({ err: error }, 'noting the embedding model failed: passages get its vectors after the next start');
      });
    },
    async close(): Promise<void> {
      await chores.close();
      await upkeep.close();
    },
  };
}
