/** Command: replays a trace from a file, without any service (TRACE-11). */
import { readFileSync, statSync } from 'node:fs';
import { MACHINES } from '../../machines/index.ts';
import { type Replay, replay } from '../../machines/replay.ts';
import { readTraceFile, TRACE_FILE_MAX_BYTES, type TraceFile, TraceFileError } from '../../machines/trace-file.ts';
import { machineVersion } from '../../machines/version.ts';
import { type Call, type Command, CommandFailed } from './command.ts';
import { table } from './table.ts';

/** @throws CommandFailed with the system's reason. */
function textOf(path: string): string {
  try {
    if (statSync(path).size > TRACE_FILE_MAX_BYTES) {
      throw new CommandFailed(`${path} is no trace: it has more than ${TRACE_FILE_MAX_BYTES / 1_000_000} MB.`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}

/** @throws CommandFailed with the sentence of the format. */
function traceOf(path: string): TraceFile {
  try {
    return readTraceFile(textOf(path));
  } catch (error) {
    if (error instanceof TraceFileError) throw new CommandFailed(error.message);
    throw error;
  }
}

/** A file may hold anything: what a terminal would obey, or would turn around, is left out. */
function shown(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

function rowsOf({ steps }: TraceFile, { same, difference }: Replay): string[][] {
  const [first] = steps;
  return steps.map(({ atMs, event, from, to, effects }, index) => {
    const mark = index < same ? 'same' : index + 1 === difference?.step ? 'DIFFERS' : '';
    const names = effects.map(({ type }) => type).join(' ');
    return [String(index + 1), `+${atMs - (first?.atMs ?? 0)} ms`, event.type, from === to ? from : `${from} → ${to}`, names, mark].map(
      shown,
    );
  });
}

function run(call: Call): void {
  const trace = traceOf(call.args[0] ?? '');
  const found = MACHINES.find(({ name }) => name === trace.machine);
  if (found === undefined) throw new CommandFailed(`This release has no machine ${shown(trace.machine)}.`);
  const isSameVersion = machineVersion(found.machine) === trace.version;
  const { input, steps } = trace;
  const replayed = replay(found.machine, input === undefined ? { steps } : { input, steps });
  const { same, difference } = replayed;
  const verdict = difference === null ? `All ${same} steps are the same.` : shown(difference.sentence);
  const version = isSameVersion
    ? ''
    : `\nThe trace was made by version ${trace.version} of the machine, and this release has ${machineVersion(found.machine)}.`;
  const columns = ['STEP', 'AT', 'EVENT', 'STATE', 'EFFECTS', 'REPLAY'];
  call.answer({ same, difference, same_version: isSameVersion }, `${table(columns, rowsOf(trace, replayed))}\n\n${verdict}${version}`);
  if (difference !== null) throw new CommandFailed('The replay differs from the trace.');
}

export const replayCommand: Command = {
  name: 'replay',
  usage: '<file>',
  does: 'Replays the trace of a machine from a file, and says where it differs; no effect is performed, and no service is needed.',
  arity: [1, 1],
  options: {},
  run,
};
