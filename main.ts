#!/usr/bin/env node
/** The composition root: config → storage → actors → gateway; listen; drain. With WORKERS it supervises processes that do. With words it is cli.ts. */
import './program/platform.ts';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { arrivalRoutes } from './gateway/cells/arrivals.ts';
import { cellRoutes } from './gateway/cells/routes.ts';
import { issueConsoleLink, openConsole } from './gateway/console/operator-session.ts';
import { consoleRoutes } from './gateway/console/routes.ts';
import { demoRoutes } from './gateway/demo.ts';
import { documentRoutes } from './gateway/docs.ts';
import { RELEASE } from './gateway/release.ts';
import { runtimeRoutes } from './gateway/runtime/routes.ts';
import { sdkRoutes } from './gateway/sdk.ts';
import { type Server, startServer } from './gateway/server.ts';
import type { Services } from './gateway/services.ts';
import { setupRoutes } from './gateway/setup/routes.ts';
import { banner } from './program/banner.ts';
import { type Composed, compose } from './program/compose.ts';
import { type Config, ConfigError, misspelt, readConfig } from './program/config.ts';
import { tuneEngine } from './program/engine.ts';
import { LogLines } from './program/log-lines.ts';
import type { Keeper } from './program/replica/keeper.ts';
import { loggedError } from './program/source-names.ts';
import { WarmUp } from './program/warm-up.ts';
import { Gathered } from './program/workers/gathered.ts';
import { supervise } from './program/workers/supervisor.ts';
import { ALIVE_EVERY_MS, type AliveMessage, type ListeningMessage } from './program/workers/worker.ts';
import { isNothingStored } from './storage/sqlite/storage-error.ts';
import { watchLoad } from './watch/load-watch.ts';
import { watchStalls } from './watch/stall-watch.ts';
import { Starts } from './watch/starts.ts';

const STDERR = 2;
/** What cells ask of each other. */
const betweenCells = [...cellRoutes, ...arrivalRoutes];
/** Open turns get this long to end (RUN-7). */
const DRAIN_MS = 30_000;
/** What is left to write to sockets once every turn has ended. */
const LAST_BYTES_MS = 2_000;
/**
 * A drain that takes longer than this is cut short: rows are safe at any moment, and the process must not linger, least of all without a
 * supervisor to kill it. The time beyond the two bounds above is for the writer's last checkpoint.
 */
const STOP_MS = DRAIN_MS + LAST_BYTES_MS + 10_000;

/**
 * The banner is for a person and goes to stdout; the log is for programs, one JSON object a line, on stderr.
 */
function createLog({ cluster, logLevel, workers }: Config): pino.Logger {
  const base = cluster?.nodeId === undefined ? null : { node: cluster.nodeId };
  const options: pino.LoggerOptions = {
    level: logLevel,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    serializers: { err: loggedError },
  };
  // Lines of workers go to the same stream, which keeps them in order.
  return workers > 1 ? pino(options, process.stderr) : pino(options, new LogLines(STDERR));
}

function publicUrlOf(config: Config, port: number): string {
  return config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

/** A link that signs in; on a disk that takes no writes the plain page, where a person signs in with the token. */
async function consolePath(services: Services): Promise<string> {
  try {
    return await issueConsoleLink(services);
  } catch (error) {
    if (!isNothingStored(error)) throw error;
    return '/console';
  }
}

interface Started {
  readonly services: Services;
  readonly port: number;
  /** The operator token, where this start minted it. */
  readonly minted: string | undefined;
}

async function announce(config: Config, { model, complaint, demo }: Composed, { services, port, minted }: Started): Promise<void> {
  const publicUrl = publicUrlOf(config, port);
  if (!config.banner) {
    if (minted !== undefined) services.log.warn('an operator token was minted and nobody was shown it: token --rotate makes another');
    return;
  }
  const { dataDir, allowPrivateAddresses, isExposed, supervised: workers } = config;
  const consoleLink = publicUrl + (await consolePath(services));
  const modelComplaint = await complaint();
  process.stdout.write(
    banner({ publicUrl, model: model.name, modelComplaint, dataDir, allowPrivateAddresses, demo, isExposed, consoleLink, minted, workers }),
  );
}

interface Running {
  readonly server: Server;
  readonly warmUp: WarmUp;
  /** Undefined: nothing is replicated, or the supervisor sees to it. */
  readonly keeper: Promise<Keeper | undefined>;
}

async function stop(
  { actors, close, services }: Composed,
  { server, warmUp, keeper }: Running,
  log: pino.Logger,
  reason: string,
): Promise<void> {
  log.info({ signal: reason, open_streams: services.node.get().context.streams }, 'draining');
  setTimeout(() => {
    log.error({ after_ms: STOP_MS }, 'the drain took too long: exiting without finishing it');
    log.flush();
    process.exit(1);
  }, STOP_MS);
  const closing = server.drain(DRAIN_MS + LAST_BYTES_MS);
  await warmUp.end();
  await actors.host.drain(DRAIN_MS);
  await closing;
  await close();
  // After the last write, so that it is sent.
  await (await keeper)?.close();
  services.node.send({ type: 'stop' });
  log.info('stopped');
  log.flush(() => process.exit(0));
}

async function serve(config: Config, log: pino.Logger): Promise<void> {
  let server: Server | undefined;
  let keeper: Promise<Keeper | undefined> = Promise.resolve(undefined);
  const drain = (reason: string) => {
    // Before it listens there is nothing to drain.
    if (server === undefined || composed.services.node.get().context.life.phase !== 'serving') return;
    composed.services.node.send({ type: 'drain' });
    void stop(composed, { server, warmUp, keeper }, log, reason);
  };
  if (config.supervised !== undefined) endWithSupervisor(log, drain, () => server !== undefined);
  const composed = await compose(config, log, () => drain('asked for by an operator'));
  // Created only now, so that a slow start does not count as load.
  const load = watchLoad({ writes: () => composed.services.storage.stats(), log });
  const stalls = watchStalls({ stallMs: config.stallMs, log, onLook: (look) => load.looked(look) });
  const { node, storage } = composed.services;
  const warmUp = new WarmUp({ config, log, storage, stalls, isBusy: () => node.get().context.streams > 0 });
  const services: Services = {
    ...composed.services,
    stalls,
    load,
    starts: new Starts({ log, opening: () => load.stats().turnsOpening }),
    isWarming: () => warmUp.isAhead,
    ...(config.supervised !== undefined && { gathered: new Gathered() }),
  };
  const minted = openConsole(services);
  // At once: it is kept nowhere, and a start may still fail before its banner.
  if (minted !== undefined && config.banner) process.stdout.write(`Operator token, shown by this start alone: ${minted}\n`);
  // Workers share a port, so that a balancer cannot spare the one that has just listened; the others serve meanwhile.
  if (config.supervised !== undefined && !config.banner) await warmUp.run();
  server = await startServer({
    host: config.host,
    port: config.port,
    sharesPort: config.supervised !== undefined,
    services,
    routes: [
      ...runtimeRoutes,
      ...setupRoutes,
      ...consoleRoutes,
      ...demoRoutes,
      ...documentRoutes,
      ...sdkRoutes,
      ...(services.cells === null ? [] : betweenCells),
    ],
  });
  services.node.send({ type: 'serve', url: publicUrlOf({ ...config, publicUrl: undefined }, server.port) });
  services.log.info({ port: server.port, model: composed.model.name, version: RELEASE }, 'listening');
  composed.begin();
  if (config.supervised === undefined) keeper = keeperOf(config, log);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => drain(signal));
  // Before the banner, which may wait for the model: the other workers need not.
  if (config.supervised !== undefined) reportToSupervisor({ port: server.port, publicUrl: publicUrlOf(config, server.port) });
  await announce(config, composed, { services, port: server.port, minted });
  await warmUp.run();
}

/** Ends the process when its supervisor is gone: a new one would start another in its place, and none would kill this one if it hangs. */
function endWithSupervisor(log: pino.Logger, drain: (reason: string) => void, listens: () => boolean): void {
  const end = () => {
    if (listens()) {
      drain('the supervisor is gone');
      return;
    }
    // A start has nothing to finish and may wait for other nodes for a minute; the next start continues from what it left.
    log.warn('the supervisor ended before this worker listened: exiting');
    log.flush();
    process.exit(1);
  };
  process.on('disconnect', end);
  if (!process.connected) end();
}

function reportToSupervisor(listening: { readonly port: number; readonly publicUrl: string }): void {
  // A closing terminal signals the whole group; the supervisor decides what that means.
  process.on('SIGHUP', () => {});
  // A channel that closes meanwhile says so by itself.
  const say = (message: ListeningMessage | AliveMessage) => process.send?.(message, undefined, undefined, () => {});
  say({ kind: 'listening', ...listening });
  say({ kind: 'alive' });
  setInterval(() => say({ kind: 'alive' }), ALIVE_EVERY_MS).unref();
}

/** Undefined: nothing is replicated. Loaded only by those who need it: its cryptography takes 4 MB and 0.2 s. */
async function keeperOf({ replica, dataDir, masterKey }: Config, log: pino.Logger): Promise<Keeper | undefined> {
  if (replica === undefined) return undefined;
  const { Keeper } = await import('./program/replica/keeper.ts');
  return new Keeper({ config: replica, dataDir, masterKey, log });
}

async function superviseAll(config: Config, log: pino.Logger): Promise<number> {
  const { host, port, workers } = config;
  const entry = fileURLToPath(import.meta.url);
  // Once a worker made the data directory there is something to keep; until then the keeper looks and waits.
  const keeper = keeperOf(config, log);
  try {
    return await supervise({ workers, nodeId: config.cluster?.nodeId, host, port, env: process.env, entry, log });
  } finally {
    await (await keeper)?.close();
  }
}

function start(config: Config): Promise<unknown> {
  const log = createLog(config);
  // Of workers the supervisor has said it.
  if (config.supervised === undefined) for (const sentence of misspelt(process.env)) log.warn(sentence);
  if (config.workers === 1) return serve(config, log);
  return superviseAll(config, log).then((code) => process.exit(code));
}

try {
  if (process.argv.length > 2) await import('./cli.ts');
  else {
    tuneEngine();
    await start(readConfig(process.env));
  }
} catch (error) {
  // What a person can mend is one line; anything else is a bug and keeps its stack.
  const expected = error instanceof ConfigError || (error instanceof Error && ['SchemaError', 'Error'].includes(error.name));
  process.stderr.write(`${expected ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
  process.exit(1);
}
