/** Commands that restore from a continuous replica (docs/backups.md): `restore --from`, and `cell take-over`. */
import { type ReplicaRestoreReport, restoreOrganisation, restoreReplica } from '../replica/restore-replica.ts';
import { cellTold, takeOver } from '../replica/take-over.ts';
import { type Call, type CliConfig, type Command, CommandFailed, progress, WrongUsage, wireReport } from './command.ts';

/** @throws WrongUsage when it is no address of a replica */
function replicaAt(call: Call, url: string) {
  const { replica, ...config } = call.config({ REPLICA_URL: url });
  if (replica === undefined) throw new WrongUsage('--from takes the address of a replica, such as s3://bucket/prefix.');
  return { ...config, replica };
}

function restoredText({ organisations, rows, files, unknownCalls, missing, completeUpTo, oldest, seconds }: ReplicaRestoreReport): string {
  const amounts = `${organisations} restored with ${rows.toLocaleString('en')} rows and ${files} files, in ${seconds.toFixed(1)} s.`;
  const newest = oldest === undefined ? '' : `, by the newest piece of ${oldest} before --at`;
  const upTo = completeUpTo === null ? 'The replica does not say up to when.' : `It is complete up to ${completeUpTo}${newest}.`;
  const calls = unknownCalls === 0 ? '' : `\n${unknownCalls} calls that waited for a confirmation, or for their outcome, are unknown now.`;
  const lacking =
    missing.length === 0 ? '' : `\nNot in the replica: ${missing.join(', ')}. See "A file is missing or damaged" in docs/backups.md.`;
  return `${amounts} ${upTo}${calls}${lacking}`;
}

/** A moment as `--at` gives it: RFC 3339, of the past, in whole seconds as Litestream takes it. @throws WrongUsage */
function momentOf(call: Call): number | undefined {
  const at = call.option('at');
  if (at === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT[0-9:.]{5,15}(?:Z|[+-]\d\d:\d\d)$/.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs) || atMs > call.nowMs()) throw new WrongUsage('--at takes a time of the past, such as 2026-11-23T17:00:00Z.');
  return Math.floor(atMs / 1_000) * 1_000;
}

/** `restore --from`: all of a replica, or one organisation. @throws Error with one sentence for the operator */
export async function restoreFromReplica(call: Call, url: string): Promise<void> {
  const { dataDir, masterKey, replica } = replicaAt(call, url);
  const options = { config: replica, dataDir, masterKey, atMs: momentOf(call), log: progress(call) };
  const id = call.option('org');
  const report = id === undefined ? await restoreReplica(options) : await restoreOrganisation(options, id);
  const what = id === undefined ? report.dataDir : `${report.dataDir}, organisation ${id}`;
  const { oldest: _, ...told } = report;
  call.answer(wireReport(told), `${what}: ${restoredText(report)}`);
}

/** The address that was given, or the one that the cell told last. @throws CommandFailed */
async function sourceOf(call: Call, cell: string, { cluster, masterKey }: CliConfig): Promise<string> {
  const given = call.option('from');
  if (given !== undefined) return given;
  const told = cluster === undefined || masterKey === undefined ? undefined : (await cellTold(cluster.redisUrl, masterKey, cell))?.replica;
  if (told === undefined) throw new CommandFailed(`Redis does not say where the replica of cell ${cell} is. Name it with --from.`);
  return told;
}

async function takeCellOver(call: Call): Promise<void> {
  const [what, cell = ''] = call.args;
  if (what !== 'take-over' || cell === '') throw new WrongUsage('Say: cell take-over <cell>.');
  const url = await sourceOf(call, cell, call.config());
  const { dataDir, masterKey, replica, cluster } = replicaAt(call, url);
  if (cluster === undefined) throw new CommandFailed('Set REDIS_URL as the other cells have it: the cells meet there.');
  if (masterKey === undefined) throw new CommandFailed('Set MASTER_KEY as the other cells have it.');
  const abandoned = call.option('abandon');
  if (abandoned !== undefined && !/^[1-9]\d{0,5}$/.test(abandoned)) throw new WrongUsage('--abandon takes the number of a term.');
  const report = await takeOver({
    ...{ cell, dataDir, masterKey, replica, log: progress(call) },
    redisUrl: cluster.redisUrl,
    abandoned: abandoned === undefined ? undefined : Number(abandoned),
    nowMs: call.nowMs,
    pause: call.pause,
  });
  const next = `Start the service here now, with CELL_ID=${cell}, its own CELL_URL, and another REPLICA_URL than the one it was taken over from.`;
  call.answer(
    { cell, ...wireReport(report) },
    `Cell ${cell} is taken over, in term ${report.term}.\n${report.dataDir}: ${restoredText(report)}\n${next}`,
  );
}

export const cellCommand: Command = {
  name: 'cell',
  usage: 'take-over <cell>',
  does: 'Takes a cell over whose host is lost: fences that host and restores its replica into DATA_DIR. The service must not run here.',
  arity: [2, 2],
  options: {
    from: { value: '<url>', does: "the cell's replica (what the cell told last, in Redis)" },
    abandon: { value: '<term>', does: 'take over although another host has claimed this term, which never served and never will' },
  },
  run: takeCellOver,
};
