/** Configuration of nodes and cells (RUN-3). */
import { ConfigError, type Settings } from './settings.ts';

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

/** @throws ConfigError when a variable is set without another that it needs. */
export function clusterOf(read: Settings): ClusterConfig | undefined {
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
