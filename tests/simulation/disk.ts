/**
 * The disk: real files in memory, and a library preloaded into this process (power-journal.c) that writes down what is done to them and
 * fails syncs. So a power cut leaves what was synced, and of the rest what chance says. Knows the open databases of each process.
 */
import fs, { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { filesBelow } from '../support/files-below.ts';
import { failSyncs, replay } from '../support/power-cuts.ts';
import { world } from './world.ts';

const require = createRequire(import.meta.url);
/** The module that the library's index hands on: what stands here before the index is loaded is what everybody imports. */
const LIBRARY = 'better-sqlite3/lib/database.js';
const Real = require(LIBRARY) as typeof Database;
/** The world's own connections: while they are open, no last one of a process moves the log into the file. */
const guards = new Map<string, Database.Database>();

/** Every database that a process opens is closed by its end, however that comes. */
export class OwnedDatabase extends Real {
  constructor(path: string, options?: Database.Options) {
    super(path, options);
    world.current?.atEnd.push(() => this.close());
  }
}
const module = require.cache[require.resolve(LIBRARY)];
if (module !== undefined) module.exports = OwnedDatabase;

/** The folder of all data directories, and what the preloaded library knows it by; '' where nothing is preloaded. */
const { POWER_FOLDER: folder = '', POWER_JOURNAL: journal = '', POWER_FAILURES: failures = '' } = process.env;
export const dataDirOf = (cell: string) => join(folder, cell);

/** A connection of the world's own for reading: it sees what was committed, whoever lives. */
export function guard(path: string): Database.Database {
  let database = guards.get(path);
  if (database === undefined) {
    database = new Real(path, { readonly: true, fileMustExist: true });
    // Only one that has read something holds the file.
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    const prepared = new Map<string, Database.Statement>();
    const prepare = database.prepare.bind(database);
    // The same few are asked after each step.
    database.prepare = ((sql: string) => prepared.get(sql) ?? prepared.set(sql, prepare(sql)).get(sql)) as typeof prepare;
    guards.set(path, database);
  }
  return database;
}

function dropGuards(dir: string): void {
  for (const [path, database] of guards) {
    if (!path.startsWith(dir)) continue;
    database.close();
    guards.delete(path);
  }
}

/** Copies files, each of them synced with its folder. */
function copyFiles(from: string, to: string): void {
  for (const name of filesBelow(from, '', '')) {
    const path = join(to, name);
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    fs.writeFileSync(path, fs.readFileSync(join(from, name)), { mode: 0o600, flush: true });
    const above = fs.openSync(dirname(path), 'r');
    fs.fsyncSync(above);
    fs.closeSync(above);
  }
}

/** Every data directory holds what its template does, and nothing was written down. */
export function beginDisk(templates: ReadonlyMap<string, string>): void {
  failSyncs(failures, { wait: 0, count: 0 });
  for (const cell of templates.keys()) {
    dropGuards(dataDirOf(cell));
    fs.rmSync(dataDirOf(cell), { recursive: true, force: true });
  }
  fs.truncateSync(journal);
  for (const [cell, template] of templates) copyFiles(template, dataDirOf(cell));
}

/** After `wait` syncs of logs some fail. */
export const failLogSyncs = (wait: number, count: number) => failSyncs(failures, { wait, count, suffix: '-wal' });

/** The power of a cell's host is cut: its directory has what was synced, and of the rest what luck says. Its processes are dead. */
export function cutPower(cell: string): void {
  const dir = dataDirOf(cell);
  failLogSyncs(0, 0);
  dropGuards(dir);
  const bytes = fs.readFileSync(journal);
  const left = mkdtempSync(join(tmpdir(), 'left-'));
  try {
    replay(bytes, (disk, position) => {
      if (position === bytes.length) disk.leave(folder, left, () => world.dice.below(2) === 0);
    });
    // The directory itself stays: it is the same one after the cut.
    for (const name of fs.readdirSync(dir)) fs.rmSync(join(dir, name), { recursive: true, force: true });
    copyFiles(join(left, cell), dir);
  } finally {
    fs.rmSync(left, { recursive: true, force: true });
  }
}
