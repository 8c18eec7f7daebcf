/** What the machines did in a test that failed, as trace files: the console opens them, and `npm run cli -- replay` does. */
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InstanceTrace, readInstanceTrace, readTurnTraces, traceJsonOf } from '../../actors/traces/instances.ts';
import { readTurn } from '../../storage/conversations/turns.ts';
import { columns, text } from '../../storage/sqlite/columns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { openReader } from '../../storage/sqlite/database.ts';
import { APP_MACHINES, type NewestTrace, readNewestTraces } from '../../storage/traces/traces.ts';

/** Instances of an app: what a test did last is what failed. */
const NEWEST_MAX = 10;
const SEARCHED = 1_000;

const app = columns({ id: text });

function tracesOf(db: Connection, appId: string, { machine, instance }: NewestTrace): readonly InstanceTrace[] {
  if (machine === 'chat-turn') {
    const turn = readTurn(db, appId, instance)?.turn;
    return turn === undefined ? [] : readTurnTraces(db, turn);
  }
  const own = APP_MACHINES.find((name) => name === machine);
  const trace = own === undefined ? undefined : readInstanceTrace(db, appId, own, instance);
  return trace === undefined ? [] : [trace];
}

function writeTraces(path: string, into: () => string): string[] {
  const db = openReader(path);
  try {
    const found = app
      .all(db, 'FROM apps', {})
      .flatMap(({ id }) => readNewestTraces(db, id, SEARCHED, NEWEST_MAX).flatMap((newest) => tracesOf(db, id, newest)));
    return found.map((trace) => {
      const file = join(into(), `${trace.machine}-${trace.instance}.json`);
      writeFileSync(file, JSON.stringify(traceJsonOf(db, trace)));
      return file;
    });
  } finally {
    db.close();
  }
}

/** Writes the newest traces of every organisation of a data directory into a folder that stays. Returns the files; none where no program ran. */
export function keepFailedRun(dataDir: string): readonly string[] {
  const folder = join(dataDir, 'organisations');
  if (!existsSync(folder)) return [];
  let kept: string | undefined;
  const into = () => {
    kept ??= mkdtempSync(join(tmpdir(), 'failed-run-'));
    return kept;
  };
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sqlite'));
  return files.flatMap((name) => writeTraces(join(folder, name), into));
}
