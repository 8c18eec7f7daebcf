/** Configuration of nodes and cells (RUN-3). */
import * as v from 'valibot';
import { ConfigError, flag, httpUrl, name } from './config-values.ts';

export interface ClusterConfig {
  readonly redisUrl: string;
  /** What people call this node; undefined: the machine's name. */
  readonly nodeId: string | undefined;
  /** Undefined: there is one cell, which has no name. */
  readonly cell: CellConfig | undefined;
}

export interface CellConfig {
  readonly id: string;
  /** How the other cells reach this one. */
  readonly url: string;
}

/** Each worker is a process of some 150 MB; more than this on one host is a mistake in the configuration. */
const WORKERS_MAX = 64;

export const clusterVariables = {
  REDIS_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => URL.canParse(text) && /^rediss?:\/\/[^/]/.test(text),
        'it must be a redis or rediss address, such as redis://127.0.0.1:6379',
      ),
    ),
  ),
  NODE_ID: v.optional(name),
  WORKERS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, `it must be a number from 1 to ${WORKERS_MAX}`),
      v.transform(Number),
      v.minValue(1, `it must be a number from 1 to ${WORKERS_MAX}`),
      v.maxValue(WORKERS_MAX, `it must be a number from 1 to ${WORKERS_MAX}`),
    ),
    '1',
  ),
  CELL_ID: v.optional(name),
  CELL_URL: v.optional(httpUrl),
  SUPERVISED: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,2}$/, 'only the process that looks after workers sets it'), v.transform(Number)),
  ),
  BANNER: v.optional(flag, 'on'),
};

/** The variables read, with the others that a cell needs. */
type ClusterRead = v.InferOutput<v.ObjectSchema<typeof clusterVariables, undefined>> & {
  readonly PUBLIC_URL?: string | undefined;
  readonly OPERATOR_TOKEN?: string | undefined;
  readonly MASTER_KEY?: string | undefined;
};

/** @throws ConfigError when a variable is set without another that it needs. */
export function clusterOf(read: ClusterRead): ClusterConfig | undefined {
  const { REDIS_URL: redisUrl, NODE_ID: nodeId, CELL_ID: id, CELL_URL, PUBLIC_URL, WORKERS: workers } = read;
  if (redisUrl === undefined) {
    const why = 'then REDIS_URL must be set: processes that share a data directory meet there';
    if (workers > 1) throw new ConfigError('WORKERS', JSON.stringify(String(workers)), why);
    if (id !== undefined) throw new ConfigError('CELL_ID', JSON.stringify(id), 'then REDIS_URL must be set: cells meet there');
    return undefined;
  }
  const url = CELL_URL ?? PUBLIC_URL;
  if (id !== undefined && read.OPERATOR_TOKEN === undefined) {
    throw new ConfigError(
      'CELL_ID',
      JSON.stringify(id),
      'then OPERATOR_TOKEN must be set, and be the same for all cells: one console speaks to all of them',
    );
  }
  if (id !== undefined && read.MASTER_KEY === undefined) {
    throw new ConfigError(
      'CELL_ID',
      JSON.stringify(id),
      'then MASTER_KEY must be set, and be the same for all cells: what one sealed another has to open',
    );
  }
  if (id !== undefined && url === undefined) {
    throw new ConfigError('CELL_ID', JSON.stringify(id), 'then CELL_URL (or PUBLIC_URL) must say how the other cells reach this one');
  }
  return { redisUrl, nodeId, cell: id === undefined || url === undefined ? undefined : { id, url } };
}
