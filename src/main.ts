/** The composition root: config → storage → actors → gateway; listen; drain. */
import pino from 'pino';
import { type Billing, createBilling } from './actors/billing.ts';
import { Confirmations } from './actors/confirmation.ts';
import { createDeadlines } from './actors/deadlines.ts';
import { SOLE_OWNER } from './actors/epochs.ts';
import { createActionRunner } from './actors/http-action-call.ts';
import { invocationDeadlines } from './actors/invocation-deadlines.ts';
import { createKnowledgeEmbedding } from './actors/knowledge-embedding.ts';
import { KnowledgeIndexer } from './actors/knowledge-indexer.ts';
import { Pairings } from './actors/pairings.ts';
import { createQuestionMeanings } from './actors/question-meanings.ts';
import { createSetup } from './actors/setup.ts';
import { SmokeRuns } from './actors/smoke-run.ts';
import { createActorSystem } from './actors/system.ts';
import { startUploadSweep, uploadDeadlines } from './actors/upload-deadlines.ts';
import { createUploadIntake } from './actors/upload-intake.ts';
import { createAddressGuard } from './assistant/address-guard.ts';
import { createEmbedder } from './assistant/embeddings.ts';
import { createHttpActionCaller } from './assistant/http-action/call.ts';
import { createLinkReader } from './assistant/knowledge/link-reader.ts';
import type { Model } from './assistant/models/model.ts';
import { createOfflineModel } from './assistant/models/offline.ts';
import { createOpenAiModel } from './assistant/models/openai.ts';
import { priceTable } from './assistant/prices.ts';
import { banner } from './banner.ts';
import { createMailer } from './billing/mail.ts';
import { createPayments } from './billing/payments.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { prepareDemo } from './demo.ts';
import { consoleRoutes } from './gateway/console/routes.ts';
import { mintConsoleLink } from './gateway/console/session.ts';
import { documentRoute } from './gateway/docs.ts';
import { runtimeRoutes } from './gateway/runtime/routes.ts';
import { type Server, startServer } from './gateway/server.ts';
import type { Services } from './gateway/services.ts';
import { setupRoutes } from './gateway/setup/routes.ts';
import { toMicroUsd } from './protocol/money.ts';
import type { Surroundings } from './protocol/setup/actions.ts';
import { prepareDataDir } from './storage/files-layout.ts';
import { lockDataDir } from './storage/lock.ts';
import { organisationIds } from './storage/organisations.ts';
import { openStorage, type Storage } from './storage/storage.ts';

/** decisions §1: open turns get this long to end. */
const DRAIN_MS = 30_000;
/** What is left to write to sockets once every turn has ended. */
const LAST_BYTES_MS = 2_000;

function createModel(config: Config, log: pino.Logger): Model {
  const { model } = config;
  if (model.provider === 'offline') return createOfflineModel();
  return createOpenAiModel({ apiKey: model.apiKey, baseUrl: model.baseUrl, model: model.model, log });
}

function createLog(config: Config): pino.Logger {
  // The banner is for a person and goes to stdout; the log is for programs, one JSON object a line, on stderr.
  return pino(
    { level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
    pino.destination({ fd: 2, sync: false }),
  );
}

function openData(config: Config, log: pino.Logger) {
  const fatal = (error: Error) => {
    log.fatal({ err: error }, 'storage cannot acknowledge writes any more: stopping');
    log.flush();
    process.exit(1);
  };
  // Everything in the data directory holds what people said, or keys to it.
  process.umask(0o077);
  prepareDataDir(config.dataDir);
  const lock = lockDataDir(config.dataDir);
  const { dataDir, masterKey } = config;
  return { lock, storage: openStorage({ dataDir, masterKey, vectors: config.embeddings !== undefined, onFatal: fatal }) };
}

async function openBilling({ mail, stripe, platformDailyBudgetUsd }: Config, storage: Storage, log: pino.Logger): Promise<Billing> {
  return createBilling({
    storage,
    mailer: createMailer({ smtpUrl: mail.url, from: mail.from, outbox: storage.layout.outbox, log }),
    payments: stripe === undefined ? null : await createPayments(stripe),
    platformBudgetMicroUsd: platformDailyBudgetUsd === null ? null : toMicroUsd(platformDailyBudgetUsd),
    log,
    nowMs: Date.now,
  });
}

/** Everything below the gateway, put together and ready for requests. */
async function compose(config: Config, log: pino.Logger) {
  const { lock, storage } = openData(config, log);
  const nowMs = Date.now;
  const guard = createAddressGuard({ allowPrivate: config.allowPrivateAddresses });
  const links = createLinkReader({ guard });
  const deadlines = createDeadlines({ storage, log, nowMs });
  const noteDeadline = deadlines.note;
  const setup = createSetup({ storage, log, nowMs, noteDeadline });
  deadlines.watch([invocationDeadlines(storage, nowMs), uploadDeadlines(storage, nowMs), setup.sessions.deadlines()]);
  const embedder = config.embeddings === undefined ? undefined : createEmbedder(config.embeddings);
  const embedding = embedder === undefined ? undefined : createKnowledgeEmbedding({ storage, embedder, log });
  const meanings = embedder === undefined ? undefined : createQuestionMeanings({ embedder, log, nowMs });
  const indexer = new KnowledgeIndexer({ storage, links, embedding, log, nowMs, onSettled: (...app) => void setup.settled(...app) });
  const surroundings: Surroundings = config.allowPrivateAddresses ? 'development' : 'production';
  const writes = { storage, indexer, nowMs, surroundings };
  const demo = config.demo ? await prepareDemo(writes) : undefined;
  const confirmations = new Confirmations({ storage, nowMs });
  for (const id of organisationIds(storage.control)) {
    await confirmations.resume(id);
    await indexer.resume(id);
    await setup.resume(id);
  }
  const billing = await openBilling(config, storage, log);
  await billing.resume();
  const model = createModel(config, log);
  const httpCaller = createHttpActionCaller({ guard });
  const runner = createActionRunner({ storage, caller: httpCaller });
  const actors = createActorSystem({
    storage,
    model,
    prices: priceTable(config.prices),
    meanings,
    runAction: runner.run,
    billing,
    ownership: SOLE_OWNER,
    log,
    nowMs,
    noteDeadline,
  });
  const smoke = new SmokeRuns({ storage, actors, log, nowMs });
  const uploads = createUploadIntake({ storage, log, nowMs, noteDeadline });
  const sweep = startUploadSweep({ storage, log }, nowMs());
  const pairings = new Pairings({ storage, actors, log, nowMs });
  return {
    model,
    demo,
    actors,
    services: { config, storage, actors, confirmations, billing, writes, setup, smoke, uploads, pairings, log, nowMs },
    /** After the last turn: what is under way in the background is taken up at the next start. */
    async close(): Promise<void> {
      pairings.close();
      actors.close();
      setup.close();
      deadlines.close();
      await sweep.close();
      await billing.close();
      await httpCaller.close();
      await model.close();
      await indexer.close();
      await embedding?.close();
      await embedder?.close();
      await storage.close();
      lock.release();
    },
  };
}

type Composed = Awaited<ReturnType<typeof compose>>;

function announce(config: Config, { model, demo }: Composed, services: Services, port: number): void {
  const publicUrl = config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  process.stdout.write(
    banner({
      publicUrl,
      model: model.name,
      dataDir: config.dataDir,
      allowPrivateAddresses: config.allowPrivateAddresses,
      demo,
      consoleLink: publicUrl + mintConsoleLink(services),
    }),
  );
  services.log.info({ port, model: model.name }, 'listening');
}

async function stop({ actors, close }: Composed, server: Server, log: pino.Logger, signal: string): Promise<void> {
  log.info({ signal, open_streams: server.openStreams() }, 'draining');
  const closing = server.drain(DRAIN_MS + LAST_BYTES_MS);
  await actors.drain(DRAIN_MS);
  await closing;
  await close();
  log.info('stopped');
  log.flush();
  process.exit(0);
}

async function serve(config: Config): Promise<void> {
  const log = createLog(config);
  const composed = await compose(config, log);
  let draining = false;
  const services: Services = { ...composed.services, draining: () => draining };
  const server = await startServer({
    host: config.host,
    port: config.port,
    services,
    routes: [...runtimeRoutes, ...setupRoutes, ...consoleRoutes, documentRoute],
  });
  announce(config, composed, services, server.port);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (draining) return;
      draining = true;
      void stop(composed, server, log, signal);
    });
  }
}

try {
  await serve(readConfig(process.env));
} catch (error) {
  // What a person can mend is one line; anything else is a bug and keeps its stack.
  const expected = error instanceof ConfigError || (error instanceof Error && ['SchemaError', 'Error'].includes(error.name));
  process.stderr.write(`${expected ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
  process.exit(1);
}
