/** Commands: backup of the data directory while the service runs, and restore (docs/backups.md). */

import { type BackupReport, backUp } from '../../storage/backup/backup.ts';
import { type RestoreReport, restore } from '../../storage/backup/restore.ts';
import { dataLayout, replaceFile } from '../../storage/data-layout.ts';
import { type Call, type Command, progress, WrongUsage, wireReport } from './command.ts';
import { restoreFromReplica } from './replicas.ts';

function amounts({ organisations, rows, uploads, files, bytes, seconds }: BackupReport | RestoreReport): string {
  const of = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${of(organisations, 'organisation')}, ${of(rows, 'row')}, ${of(uploads, 'upload')}; ${of(files, 'file')}, ${size}, in ${seconds.toFixed(1)} s`;
}

async function makeBackup(call: Call): Promise<void> {
  const { dataDir, masterKey } = call.config();
  const log = progress(call);
  const report = await backUp({ dataDir, target: call.args[0] ?? '', masterKey, log });
  try {
    replaceFile(dataLayout(dataDir).lastBackup, '');
  } catch (error) {
    log.warn({ err: error }, 'metrics do not show this backup: its time could not be noted in the data directory');
  }
  const key = report.masterKeyIncluded ? '' : '\nMASTER_KEY is not in it. Keep it elsewhere: without it the backup cannot be read.';
  call.answer(wireReport(report), `${report.target} holds ${amounts(report)}.${key}`);
}

async function restoreBackup(call: Call): Promise<void> {
  const from = call.option('from');
  if (from !== undefined && call.args.length > 0) throw new WrongUsage('Give the folder of a backup, or --from with a replica, not both.');
  if (from !== undefined) return restoreFromReplica(call, from);
  if (call.args.length === 0) throw new WrongUsage('Say what to restore: the folder of a backup, or --from with the address of a replica.');
  if (call.option('at') !== undefined || call.option('org') !== undefined) throw new WrongUsage('--at and --org are for --from.');
  const { dataDir, masterKey } = call.config();
  const report = await restore({ source: call.args[0] ?? '', dataDir, masterKey, log: progress(call) });
  const start = report.masterKeyInstalled ? 'Start the service.' : 'Start the service with the MASTER_KEY that was given here.';
  const held = `${report.dataDir} holds what was committed before ${report.backupBeganAt}`;
  call.answer(wireReport(report), `${held}: ${amounts(report)}.\n${start}`);
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
  usage: '[<dir>]',
  does: 'Puts a backup, or with --from a replica, into DATA_DIR, which must be empty or not exist. The service must not run.',
  arity: [0, 1],
  options: {
    from: { value: '<url>', does: 'restore from this replica, as REPLICA_URL names it' },
    at: { value: '<time>', does: 'restore it as it was then; the newest without' },
    org: { value: '<org>', does: 'restore this organisation only, whose file is away; the service may run' },
  },
  run: restoreBackup,
};
