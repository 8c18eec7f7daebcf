/** Which databases of a data directory are replicated: the control file and each organisation's file that has something in it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import type { DataLayout } from '../data-layout.ts';

export interface ReplicatedDatabase {
  readonly path: string;
  /** Its place below the destination: its path in the data directory, with slashes. */
  readonly name: string;
}

/** The name below the destination of a file in the data directory. */
export function replicaName(layout: DataLayout, path: string): string {
  return relative(layout.dir, path).replaceAll('\\', '/');
}

/** All of them, the control file first and the others by name. */
export function replicatedDatabases(layout: DataLayout): ReplicatedDatabase[] {
  // A first start has not made it yet.
  if (!existsSync(layout.organisations)) return [];
  const organisations = readdirSync(layout.organisations)
    .filter((name) => name.endsWith('.sqlite') && isId('org', basename(name, '.sqlite')))
    .sort()
    .map((name) => join(layout.organisations, name));
  return [layout.control, ...organisations]
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0)
    .map((path) => ({ path, name: replicaName(layout, path) }));
}
