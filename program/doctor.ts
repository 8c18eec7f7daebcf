/**
 * Holds a configuration against the world, for `cli doctor` (RUN-42): what a person should change before others depend on it. It looks only; the one
 * file that it writes, to time the disk, is gone when it ends.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import pino from 'pino';
import { openLink } from '../actors/cluster/bus/redis-connection.ts';
import { RELEASE } from '../gateway/release.ts';
import { dataLayout } from '../storage/data-layout.ts';
import { Conditions } from '../storage/health/conditions.ts';
import type { Finding } from './cli/command.ts';
import { type Config, misspelt, readConfig } from './config.ts';
import { createCheckedModel } from './model-check.ts';

type Env = Readonly<Record<string, string | undefined>>;

const ANSWER_MS = 5_000;
const GB = 1e9;
/** As much as the service keeps free of uploads. */
const FREE_MIN_BYTES = 2 * GB;
/** Each commit waits for one: beyond this a turn is felt to be slow. */
const SYNC_MAX_MS = 20;
const SYNCS = 9;
const DESCRIPTORS_MIN = 16_384;
const CLOCK_MAX_S = 5;
/** Magic numbers of statfs: NFS, SMB, SMB2, CIFS, Ceph, 9P. */
const NETWORK_FILES: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0xc36400, 0x01021997]);

const fine = (about: string, says: string): Finding => ({ about, isRemark: false, says });
const remark = (about: string, says: string): Finding => ({ about, isRemark: true, says });

/** The median of some commits' worth of waiting for the disk. */
function syncMs(folder: string): number {
  const file = join(folder, `.doctor-${process.pid}`);
  const fd = openSync(file, 'w', 0o600);
  try {
    const times = Array.from({ length: SYNCS }, () => {
      writeSync(fd, Buffer.alloc(4_096, 1));
      const startedMs = performance.now();
      fsyncSync(fd);
      return performance.now() - startedMs;
    });
    return times.sort((one, other) => one - other)[Math.floor(SYNCS / 2)] ?? 0;
  } finally {
    closeSync(fd);
    rmSync(file, { force: true });
  }
}

function disk({ dataDir }: Config): Finding[] {
  const path = resolve(dataDir);
  // Before the first start the folder is not there: then the one that it will be made in counts.
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) return [remark('data', `${folder} is a file: name a folder in DATA_DIR.`)];
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return [remark('data', `This user may not write in ${folder}: run doctor as the service's user, or give it the folder.`)];
  }
  const { type, bavail, bsize } = statfsSync(folder);
  if (NETWORK_FILES.has(type))
    return [remark('data', `${folder} lies on a network file system, where SQLite's locks do not hold: use a local disk.`)];
  const freeGb = (bavail * bsize) / GB;
  const ms = syncMs(folder);
  return [
    fine('data', folder === path ? path : `${path} will be made by the first start`),
    (freeGb * GB < FREE_MIN_BYTES ? remark : fine)(
      'disk',
      `${freeGb.toFixed(1)} GB are free${freeGb * GB < FREE_MIN_BYTES ? ': the last gigabyte takes no uploads, make room' : ''}.`,
    ),
    (ms > SYNC_MAX_MS ? remark : fine)(
      'sync',
      `The disk takes ${ms.toFixed(1)} ms to keep a write${ms > SYNC_MAX_MS ? ', and each turn waits for some: use a faster one' : ''}.`,
    ),
  ];
}

function system(): Finding[] {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  const found = [
    fine(
      'program',
      `Release ${RELEASE}, Node ${process.versions.node}, glibc ${header?.glibcVersionRuntime ?? 'none'}, ${process.platform} ${process.arch}.`,
    ),
  ];
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const files = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1];
  if (files === undefined) return found;
  const isLow = Number(files) < DESCRIPTORS_MIN;
  return [
    ...found,
    (isLow ? remark : fine)(
      'descriptors',
      isLow
        ? `At most ${files} files and streams may be open: raise it to 65536 (LimitNOFILE= of systemd, ulimit -n).`
        : `${files} files and streams may be open.`,
    ),
  ];
}

function secrets({ dataDir, masterKey, operatorToken, isExposed, allowPrivateAddresses, demo, model }: Config): Finding[] {
  const minted = dataLayout(dataDir).masterKey;
  return [
    masterKey === undefined && isExposed
      ? remark(
          'keys',
          `MASTER_KEY is not set: the key lies in ${minted}, beside what it seals. Put it elsewhere (a secret of the process manager) and set MASTER_KEY.`,
        )
      : fine(
          'keys',
          `The master key comes from ${masterKey === undefined ? minted : 'MASTER_KEY'}, the operator token from ${operatorToken === undefined ? 'the first start' : 'OPERATOR_TOKEN'}.`,
        ),
    ...(isExposed && allowPrivateAddresses
      ? [remark('addresses', 'ALLOW_PRIVATE_ADDRESSES opens this network to whoever writes knowledge: unset it.')]
      : []),
    ...(isExposed && demo ? [remark('demo', 'The demo gives anyone turns of the model: set DEMO=off.')] : []),
    ...(isExposed && model.provider === 'offline'
      ? [remark('model', 'The offline model answers from passages alone: set OPENAI_API_KEY, or OPENAI_BASE_URL.')]
      : []),
  ];
}

async function redis({ cluster }: Config): Promise<Finding[]> {
  if (cluster === undefined) return [];
  const link = openLink({ redisUrl: cluster.redisUrl, log: pino({ level: 'silent' }) });
  try {
    await new Promise<void>((done, failed) => {
      link.redis.once('ready', () => done());
      let reason = 'no answer';
      link.redis.on('error', (error: Error) => {
        reason = error.message;
      });
      setTimeout(() => failed(new Error(reason)), ANSWER_MS).unref();
    });
    const [seconds, microseconds] = await link.redis.time();
    const offS = Math.abs(Number(seconds) + Number(microseconds) / 1e6 - Date.now() / 1e3);
    const clock = `This clock and that of Redis are ${offS.toFixed(0)} s apart`;
    return [
      fine('redis', 'Redis answers.'),
      offS > CLOCK_MAX_S ? remark('clock', `${clock}: run chrony or systemd-timesyncd on both.`) : fine('clock', `${clock}.`),
    ];
  } catch (error) {
    return [remark('redis', `Redis does not answer (${(error as Error).message}): see REDIS_URL.`)];
  } finally {
    link.close();
  }
}

async function model({ model: config }: Config): Promise<Finding[]> {
  if (config.provider === 'offline') return [];
  const log = pino({ level: 'silent' });
  const checked = createCheckedModel({ ...config, isChecked: true }, new Conditions(log, Date.now), log);
  const complaint = await checked.complaint();
  await checked.model.close();
  return [
    complaint === undefined
      ? fine('model', `${config.model} at ${new URL(config.baseUrl).host} answers, or is slower than 3 seconds.`)
      : remark('model', complaint),
  ];
}

/** Whether something listens at an address; its reason when not. */
function reach(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connect({ host, port, timeout: ANSWER_MS });
    const end = (why?: string) => {
      socket.destroy();
      done(why);
    };
    socket.once('connect', () => end());
    socket.once('timeout', () => end('no answer'));
    socket.once('error', (error) => end(error.message));
  });
}

async function mail({ mail: { url } }: Config): Promise<Finding[]> {
  if (url === undefined) return [];
  const { hostname, port, protocol } = new URL(url);
  const why = await reach(hostname, Number(port) || (protocol === 'smtps:' ? 465 : 587));
  return [why === undefined ? fine('mail', `${hostname} answers.`) : remark('mail', `${hostname} does not answer (${why}): see SMTP_URL.`)];
}

async function replica({ replica: config }: Config): Promise<Finding[]> {
  if (config === undefined) return [];
  const [{ litestreamVersion, versionProblem }, { replicaStore }] = await Promise.all([
    import('./replica/litestream.ts'),
    import('./replica/store.ts'),
  ]);
  if ((await litestreamVersion(config.bin)) === undefined) return [remark('replica', `${config.bin} cannot be run: see LITESTREAM_BIN.`)];
  const problem = await versionProblem(config.bin);
  if (problem !== undefined) return [remark('replica', problem)];
  const store = replicaStore(config);
  try {
    await store?.list('');
    return [fine('replica', 'Litestream is there, and its place can be read.')];
  } catch (error) {
    return [remark('replica', `The replica's place cannot be read (${(error as Error).message}): see REPLICA_URL.`)];
  }
}

/** Asks the service through its outer address, as clients do. */
async function front({ publicUrl, trustProxy, host, port }: Config): Promise<Finding[]> {
  if (publicUrl === undefined) return [];
  const untold =
    trustProxy === undefined && publicUrl.startsWith('https:')
      ? [remark('proxy', 'TRUST_PROXY is not set, so all clients count as the proxy: set TRUST_PROXY=1 for one in front.')]
      : [];
  try {
    const answer = await fetch(`${publicUrl}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    if (answer.status === 505)
      return [...untold, remark('proxy', 'The proxy speaks HTTP/1.0 to the service: it needs proxy_http_version 1.1;')];
    const says = `${publicUrl} is answered ${answer.status}`;
    return [
      ...untold,
      answer.ok ? fine('proxy', `${says}.`) : remark('proxy', `${says}: is the service up, and does the proxy lead to ${host}:${port}?`),
    ];
  } catch (error) {
    const { cause, message } = error as Error;
    return [
      ...untold,
      remark(
        'proxy',
        `${publicUrl} does not answer (${(cause as Error | undefined)?.message ?? message}): start the service and its proxy first.`,
      ),
    ];
  }
}

/** @throws ConfigError naming a variable that the service could not start with. */
export async function examine(env: Env): Promise<readonly Finding[]> {
  const config = readConfig(env);
  const names = misspelt(env).map((sentence) => remark('variables', sentence));
  const around = await Promise.all([redis(config), model(config), mail(config), replica(config), front(config)]);
  return [...system(), ...names, ...disk(config), ...secrets(config), ...around.flat()];
}
