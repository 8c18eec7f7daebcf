/** Composition: everything below the gateway, put together and ready for requests. */
import type { Logger } from 'pino';
import type { Announcer } from '../actors/announcements.ts';
import { type Billing, createBilling } from '../actors/billing/billing.ts';
import { createMailer } from '../actors/billing/mail.ts';
import { createPayments } from '../actors/billing/payments.ts';
import { createActionRunner } from '../actors/calls/action-runner.ts';
import { Confirmations, EDIT_ABANDONED_MS } from '../actors/calls/confirmation.ts';
import { invocationDeadlines } from '../actors/calls/invocation-deadlines.ts';
import { createDeadlines } from '../actors/deadlines.ts';
import { forEachOrganisation } from '../actors/for-each-organisation.ts';
import { createKnowledgeEmbedding } from '../actors/knowledge/embedding.ts';
import { KnowledgeIndexer } from '../actors/knowledge/indexer.ts';
import { createQueryEmbeddings } from '../actors/knowledge/query-embeddings.ts';
import type { Leases } from '../actors/leases.ts';
import { createNode } from '../actors/node.ts';
import { createOrganisationRetries } from '../actors/organisation-retries.ts';
import { Pairings } from '../actors/pairing/pairings.ts';
import { createSetup, type Setup } from '../actors/setup/setup.ts';
import { SmokeRuns } from '../actors/smoke/run.ts';
import { startTraceUpkeep } from '../actors/traces/upkeep.ts';
import { createActorSystem } from '../actors/turns/turns.ts';
import { startUploadSweep, uploadDeadlines } from '../actors/uploads/deadlines.ts';
import { createUploadReceiver } from '../actors/uploads/upload-receiver.ts';
import { createEmbedder } from '../assistant/embeddings/embeddings.ts';
import { createAddressGuard } from '../assistant/http/address-guard.ts';
import { createHttpActionCaller } from '../assistant/http-action/call.ts';
import { createLinkReader } from '../assistant/knowledge/link-reader.ts';
import { isLimitedBySystem, parsers } from '../assistant/parsers/parsers.ts';
import { priceTable } from '../assistant/prices.ts';
import { createLargeBodies } from '../gateway/http/large-body.ts';
import { toMicroUsd } from '../protocol/money.ts';
import type { Surroundings } from '../protocol/setup/actions.ts';
import { refuseCutOffRestore } from '../storage/backup/restore.ts';
import { prepareDataDir } from '../storage/data-layout.ts';
import { createConditions } from '../storage/health/conditions.ts';
import { organisationIds } from '../storage/organisations/organisations.ts';
import { lockDataDir, withStartLock } from '../storage/sqlite/lock.ts';
import { isRefusedByDisk, isUnavailable } from '../storage/sqlite/storage-error.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import type { ComposedNode } from './composed-node.ts';
import type { Config } from './config.ts';
import { demoManifests, prepareDemo } from './demo.ts';
import { openCell } from './join-cells.ts';
import { joinCell } from './join-cluster.ts';
import { createCheckedModel } from './model-check.ts';
import { standAlone } from './stand-alone.ts';

const PARSERS_WITHOUT_LIMITS =
  'prlimit (util-linux) was not found: the memory of processes that read documents is bounded by V8 and by a watch only. Install it';

function openData({ cluster, dataDir, embeddings, masterKey }: Config, log: Logger) {
  const fatal = (error: Error) => {
    log.fatal({ err: error }, 'the writer thread died and no write can be stored: exiting');
    log.flush();
    process.exit(1);
  };
  const shared = cluster !== undefined;
  const conditions = createConditions(log, Date.now);
  const lock = lockDataDir(dataDir, shared ? 'shared' : 'alone');
  return { lock, storage: openStorage({ dataDir, masterKey, shared, vectors: embeddings !== undefined, conditions, onFatal: fatal }) };
}

async function openBilling(config: Config, storage: Storage, log: Logger, others: Announcer): Promise<Billing> {
  const { mail, stripe, platformDailyBudgetUsd } = config;
  return createBilling({
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
  const embedding = embedder === undefined ? undefined : createKnowledgeEmbedding({ storage, embedder, log });
  const meanings = embedder === undefined ? undefined : createQueryEmbeddings({ embedder, log, nowMs });
  const onSettled = (organisationId: string, appId: string) => void setup.settled(organisationId, appId);
  const indexer = new KnowledgeIndexer({ storage, links, embedding, leases, log, nowMs, onSettled });
  return {
    guard,
    indexer,
    meanings,
    async close() {
      await indexer.close();
      await embedding?.close();
      await embedder?.close();
    },
  };
}

export type Composed = Awaited<ReturnType<typeof composeAlone>>;

/** `drain`: does what SIGTERM does. @throws Error with one sentence when the person who starts the service can mend it. */
export async function compose(config: Config, log: Logger, drain: () => void): Promise<Composed> {
  // The data directory holds people's messages and the keys to them.
  process.umask(0o077);
  prepareDataDir(config.dataDir);
  refuseCutOffRestore(config.dataDir);
  const work = () => composeAlone(config, log, drain);
  // Secrets of a first start are minted once, however many nodes start together.
  return config.cluster === undefined ? work() : withStartLock(config.dataDir, work);
}

async function composeAlone(config: Config, log: Logger, drain: () => void) {
  if (!isLimitedBySystem) log.warn(PARSERS_WITHOUT_LIMITS);
  const { lock, storage } = openData(config, log);
  const nowMs = Date.now;
  const startedAtMs = nowMs();
  const cluster = config.cluster && (await joinCell({ config: config.cluster, dataDir: config.dataDir, storage, log, nowMs }));
  const composed = cluster ?? standAlone(createNode({ id: 'node~alone', name: 'node', cell: null, startedAtMs }));
  const { node, others, leases } = composed;
  const deadlines = createDeadlines({ storage, log, nowMs, others });
  const noteDeadline = deadlines.note;
  const setup = createSetup({ storage, log, node, nowMs, noteDeadline, others });
  deadlines.watch([invocationDeadlines(storage, nowMs), uploadDeadlines(storage, nowMs), setup.sessions.deadlines()]);
  const knowledge = openKnowledge(config, storage, log, setup, leases);
  const { indexer } = knowledge;
  const surroundings: Surroundings = config.allowPrivateAddresses ? 'development' : 'production';
  const writes = { storage, indexer, nowMs, surroundings, leases };
  const demo = config.demo ? await tryDemo(writes, log) : undefined;
  const confirmations = new Confirmations({ storage, nowMs });
  const billing = await openBilling(config, storage, log, others);
  const chores = await takeUp({ storage, confirmations, indexer, setup, billing, deadlines, log, composed });
  const { complaint, asked, ...answering } = openAnswering(config, storage, log, knowledge);
  const turnServices = { storage, ...asked, billing, log, node, nowMs, noteDeadline, turnLossesMax: config.turnLossesMax };
  const actors = createActorSystem({ host: composed.host(turnServices), others });
  const smoke = new SmokeRuns({ storage, actors, leases, log, nowMs });
  const uploads = createUploadReceiver({ storage, log, nowMs, noteDeadline });
  const largeBodies = createLargeBodies();
  const sweep = startUploadSweep({ storage, log, others }, startedAtMs);
  const upkeep = startTraceUpkeep({ storage, log, nowMs }, config.traces);
  const pairings = new Pairings({ storage, actors, others, log, nowMs });
  const cell = config.cluster?.cell;
  const open =
    cluster === undefined || cell === undefined
      ? undefined
      : await openCell({ config: cell, node: cluster, storage, log, nowMs, takeUp: (organisationId) => chores.take(organisationId) });
  const { id } = node.get().context;
  const census = { actors: () => [...actors.actors(id), ...setup.sessions.actors(id)], drain, node };
  return {
    model: asked.model,
    complaint,
    demo,
    actors,
    services: {
      ...{ config, storage, actors, confirmations, billing, writes, setup, smoke, uploads, largeBodies, pairings, log, nowMs },
      node,
      cluster: composed.view(census),
      counts: composed.counts,
      cells: open?.cells ?? null,
      moves: open?.moves ?? null,
    },
    /** Called after the last turn. Background work is resumed at the next start, or by another node. */
    async close(): Promise<void> {
      await open?.close();
      await chores.close();
      pairings.close();
      actors.close();
      setup.close();
      deadlines.close();
      await sweep.close();
      await upkeep.close();
      await billing.close();
      await answering.close();
      await knowledge.close();
      await parsers.close();
      await largeBodies.close();
      await composed.close();
      await storage.close();
      lock.release();
    },
  };
}

/** What turns use: the model, its prices, embeddings, and the app's backend. */
function openAnswering(config: Config, storage: Storage, log: Logger, { guard, meanings }: ReturnType<typeof openKnowledge>) {
  const { model, complaint } = createCheckedModel(config.model, storage.conditions, log);
  const caller = createHttpActionCaller({ guard });
  const runner = createActionRunner({ storage, caller });
  const prices = priceTable(config.prices);
  return {
    complaint,
    asked: { model, prices, meanings, runAction: runner.run, manifestWithout: demoManifests(storage) },
    async close(): Promise<void> {
      await caller.close();
      await runner.close();
      await model.close();
    },
  };
}

/** Without room for it the service starts without the demo, and the next start makes it. */
async function tryDemo(writes: Parameters<typeof prepareDemo>[0], log: Logger): ReturnType<typeof prepareDemo> {
  try {
    return await prepareDemo(writes);
  } catch (error) {
    if (!isRefusedByDisk(error) && !isUnavailable(error)) throw error;
    log.error({ err: error }, 'creating the demo app failed: the next start tries again');
    return undefined;
  }
}

interface UnderWay {
  readonly storage: Storage;
  readonly confirmations: Confirmations;
  readonly indexer: KnowledgeIndexer;
  readonly setup: Setup;
  readonly billing: Billing;
  readonly deadlines: ReturnType<typeof createDeadlines>;
  readonly log: Logger;
  readonly composed: ComposedNode;
}

/**
 * Resumes work that was under way when a process ended: all of it when this process is alone, or what a lost node left.
 */
async function takeUp({ storage, confirmations, indexer, setup, billing, deadlines, log, composed }: UnderWay) {
  const take = async (organisationId: string) => {
    await confirmations.resume(organisationId, EDIT_ABANDONED_MS);
    await indexer.resume(organisationId);
    await setup.resume(organisationId);
    await billing.evaluate(organisationId);
  };
  const lookAgain = async () => {
    await deadlines.lookAgain();
    await billing.lookAgain();
  };
  const ids = () => organisationIds(storage.control);
  const chores = composed.chores({ storage, organisationIds: ids, resume: take, lookAgain, log });
  const organisationRetries = createOrganisationRetries({ storage, log }, take, lookAgain);
  if (chores.alone()) {
    const resume = async (id: string) => {
      await confirmations.resume(id);
      await indexer.resume(id);
      await setup.resume(id);
    };
    organisationRetries.add(await forEachOrganisation({ storage, log }, 'resuming unfinished work', resume));
    organisationRetries.add(await billing.resume());
  } else billing.watch();
  return {
    /** All that is due in one organisation. */
    async take(organisationId: string): Promise<void> {
      await take(organisationId);
      await lookAgain();
    },
    async close(): Promise<void> {
      await chores.close();
      await organisationRetries.close();
    },
  };
}
