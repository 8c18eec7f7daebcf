/**
 * Keeps a data directory that lost its control file or its master key from being taken for a new one. Creating these files anew would
 * silently hide every organisation, or make everything sealed unreadable.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import type { DataLayout } from '../data-layout.ts';

function organisationsIn({ organisations }: DataLayout): number {
  return readdirSync(organisations).filter((name) => name.endsWith('.sqlite') && isId('org', basename(name, '.sqlite'))).length;
}

/** @throws Error with what is missing and what to do. */
export function refuseLostData(layout: DataLayout, masterKey: string | undefined): void {
  const there = organisationsIn(layout);
  if (there === 0) return;
  const whatToDo = 'Put it back (docs/backups.md, "A file is missing or damaged"), or give another DATA_DIR.';
  if ((statSync(layout.control, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new Error(`${layout.control} is missing or empty, and there are files of ${there} organisations beside it. ${whatToDo}`);
  }
  if (masterKey === undefined && !existsSync(layout.masterKey)) {
    throw new Error(`${layout.masterKey} is missing, and MASTER_KEY is not set: what is stored here was sealed with a key. ${whatToDo}`);
  }
}
