/**
 * What Litestream is told: its configuration file and its environment. The keys are those that 0.3 and 0.5 both read: one destination in
 * the list `replicas`, each database by its path. JSON is YAML.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataLayout, replaceFile } from '../../storage/data-layout.ts';
import type { ReplicatedDatabase } from '../../storage/replica/replicated-databases.ts';
import type { ReplicaConfig } from '../config.ts';
import type { DatabaseSeal, DatabaseSeals } from './sealing.ts';

/** What is lost with a host is what came since the last sync. */
const SYNC_INTERVAL = '1s';

/** Variables by which Litestream finds credentials, proxies and certificates; nothing else of the service's environment reaches it. */
const PASSED_ON = /^(?:PATH|HOME|TMPDIR|TZ|(?:AWS|LITESTREAM|GOOGLE|AZURE|SSL_CERT)_\w+|(?:HTTPS?|NO)_PROXY|(?:https?|no)_proxy)$/;

export function litestreamReplica(
  { url, s3 }: Pick<ReplicaConfig, 'url' | 's3'>,
  name: string,
  { identity, recipient }: DatabaseSeal,
): object {
  const common = { age: { identities: [identity], recipients: [recipient] }, 'sync-interval': SYNC_INTERVAL };
  if (!url.startsWith('s3://') || s3.endpoint === undefined) return { url: `${url}/${name}`, ...common };
  const { hostname, pathname } = new URL(url);
  const prefix = pathname.replace(/^\//, '');
  return {
    type: 's3',
    bucket: hostname,
    path: prefix === '' ? name : `${prefix}/${name}`,
    endpoint: s3.endpoint,
    region: s3.region,
    'force-path-style': true,
    ...common,
  };
}

export interface ToldToLitestream {
  readonly databases: readonly ReplicatedDatabase[];
  readonly seals: DatabaseSeals;
  readonly metrics: string;
  /** Seconds after which it first looks for what it may delete, and again each time; undefined: an hour. */
  readonly retentionCheckS: number | undefined;
}

export function litestreamConfiguration(config: ReplicaConfig, { databases, seals, metrics, retentionCheckS }: ToldToLitestream): string {
  const retention = retentionCheckS === undefined ? {} : { 'retention-check-interval': `${retentionCheckS}s` };
  const dbs = databases.map(({ path, name }) => ({ path, replicas: [{ ...litestreamReplica(config, name, seals(name)), ...retention }] }));
  return `${JSON.stringify({ addr: metrics, dbs })}\n`;
}

/** Two run: one follows all databases that there were at its start, the other those that came since, until the first is started anew. */
export type LitestreamName = 'litestream' | 'newcomers';

export function configurationPath(layout: DataLayout, name: LitestreamName): string {
  return join(layout.replica, `${name}.yml`);
}

/** Replaces the configuration as a whole, readable for its owner only: it holds what seals the databases, and an address may hold a password. */
export function writeConfiguration(layout: DataLayout, name: LitestreamName, text: string): void {
  replaceFile(configurationPath(layout, name), text);
}

export function litestreamEnvironment(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));
}

/** The address without a user and a password, for messages. */
export function shownUrl(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//');
}

/** Whether a process that runs is Litestream with this configuration: what a keeper that was killed left behind. */
export function isLitestream(pid: number, configuration: string): boolean {
  try {
    const parts = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return parts.includes('replicate') && parts.includes(configuration);
  } catch {
    return false;
  }
}
