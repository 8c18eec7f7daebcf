/** A writer of its own process, which a power cut ends: prints where the journal stood when each note was acknowledged. Arguments: the file, and what to do. */
import { statSync } from 'node:fs';
import { openReader } from '../../storage/sqlite/database.ts';
import { Writer } from '../../storage/sqlite/writer.ts';
import type { transactions } from '../storage/sqlite/writer-registry.ts';
import { failSyncs } from '../support/power-cuts.ts';

const [, , path = '', job = ''] = process.argv;
const { POWER_JOURNAL: journal = '', POWER_FAILURES: failures = '' } = process.env;
const writer = new Writer<typeof transactions>({ registryUrl: new URL('../storage/sqlite/writer-registry.js', import.meta.url) });
let notes = 0;

/** As many as one group takes, some times. */
async function write(times: number): Promise<void> {
  for (let group = 0; group < times; group += 1) {
    await Promise.all(
      Array.from({ length: 250 }, async () => {
        const text = `note ${job} ${notes++} ${'x'.repeat(200)}`;
        await writer.write(path, 'addNote', { text }).then(
          () => console.log(`${statSync(journal).size} ${text}`),
          () => {},
        );
      }),
    );
  }
}

/** A checkpoint whose sync of the file fails. */
async function move(): Promise<void> {
  await write(3);
  const reader = openReader(path);
  for (let round = 0; round < 3; round += 1) {
    // While it reads, the next checkpoint moves a part of the log into the file, and syncs nothing.
    reader.exec('BEGIN');
    reader.statement('SELECT count(*) FROM notes').get();
    await write(2);
    reader.exec('COMMIT');
    // The next one moves the rest, and its sync of the file fails.
    failSyncs(failures, { wait: 0, suffix: '.sqlite' });
    await write(9);
  }
  await writer.close();
  reader.close();
}

/** A process that is killed while no sync of the log succeeds: what it wrote last is in memory alone, and changes pages that no log on disk has. */
async function leaveLog(): Promise<void> {
  await write(5);
  failSyncs(failures, { wait: 0, count: 1_000, suffix: '-wal' });
  await write(3);
  failSyncs(failures, { wait: 0, count: 0 });
  process.kill(process.pid, 'SIGKILL');
}

/** The next one, which cannot put that log on disk at first. */
async function findLog(): Promise<void> {
  failSyncs(failures, { wait: 0, suffix: '-wal' });
  writer.doubtLog(path);
  await write(1);
  await writer.close();
}

const jobs: Readonly<Record<string, () => Promise<void>>> = { move, leaveLog, findLog };
await jobs[job]?.();
