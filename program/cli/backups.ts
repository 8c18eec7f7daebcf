/** Commands: backup of the data directory while the service runs, and restore (docs/backups.md). */
import { backUp, type ProgressLog } from '../../storage/backup/backup.ts';
import { restore } from '../../storage/backup/restore.ts';
import type { Call, Command } from './command.ts';

/** Progress messages for the person who waits. */
function progress({ note }: Call): ProgressLog {
  const told = (facts: object, text: string) => {
    const details = Object.entries(facts).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`);
    note(details.length === 0 ? text : `${text} (${details.join('; ')})`);
  };
  return { info: told, warn: (facts, text) => told(facts, `Warning: ${text}`) };
}

interface Amounts {
  readonly organisations: number;
  readonly rows: number;
  readonly uploads: number;
  readonly files: number;
  readonly bytes: number;
  readonly seconds: number;
}

function amounts({ organisations, rows, uploads, files, bytes, seconds }: Amounts): string {
  const of = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${of(organisations, 'organisation')}, ${of(rows, 'row')}, ${of(uploads, 'upload')}; ${of(files, 'file')}, ${size}, in ${seconds.toFixed(1)} s`;
}

async function makeBackup(call: Call): Promise<void> {
  const { dataDir, masterKey } = call.config();
  const report = await backUp({ dataDir, target: call.args[0] ?? '', masterKey, log: progress(call) });
  const { target, missingUploads, unreadableUploads, masterKeyIncluded, ...amount } = report;
  const key = masterKeyIncluded ? '' : '\nMASTER_KEY is not in it. Keep it elsewhere: without it the backup cannot be read.';
  call.answer(
    {
      target,
      ...amount,
      missing_uploads: missingUploads,
      unreadable_uploads: unreadableUploads,
      master_key_included: masterKeyIncluded,
    },
    `${target} holds ${amounts(amount)}.${key}`,
  );
}

async function restoreBackup(call: Call): Promise<void> {
  const { dataDir, masterKey } = call.config();
  const report = await restore({ source: call.args[0] ?? '', dataDir, masterKey, log: progress(call) });
  const { dataDir: restored, backupBeganAt, missingUploads, masterKeyInstalled, ...amount } = report;
  const start = masterKeyInstalled ? 'Start the service.' : 'Start the service with the MASTER_KEY that was given here.';
  call.answer(
    {
      data_dir: restored,
      backup_began_at: backupBeganAt,
      ...amount,
      missing_uploads: missingUploads,
      master_key_installed: masterKeyInstalled,
    },
    `${restored} holds what was committed before ${backupBeganAt}: ${amounts(amount)}.\n${start}`,
  );
}

export const backupCommand: Command = {
  name: 'backup',
  usage: '<dir>',
  does: 'Writes a verified backup of DATA_DIR into a new folder, while the service runs.',
  arity: [1, 1],
  options: {},
  run: makeBackup,
};

export const restoreCommand: Command = {
  name: 'restore',
  usage: '<dir>',
  does: 'Puts a backup into DATA_DIR, which must be empty or not exist. The service must not run.',
  arity: [1, 1],
  options: {},
  run: restoreBackup,
};
