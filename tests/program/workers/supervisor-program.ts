/**
 * A stand-in for the program under its supervisor, started by program/workers/supervisor.test.ts. Without SUPERVISED it is the supervisor of itself; as a
 * worker it serves nothing, tells what it was given in a line on stderr, and does what files in DIR say: `fail-<node>` (exit 3 before it is
 * up), `stubborn-<node>` (does not end when asked), `torn-<node>`. SIGUSR2 makes it exit with 0 although nobody asked.
 */
import { existsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const { env } = process;
const ENTRY = fileURLToPath(import.meta.url);
const FREE_PORT = 40_321;
const TORN_LINES = 200;

function tell(line: object): void {
  writeSync(2, `${JSON.stringify({ node: env.NODE_ID, pid: process.pid, ...line })}\n`);
}

async function superviseItself(): Promise<void> {
  const { default: pino } = await import('pino');
  const { supervise } = await import('../../../program/workers/supervisor.ts');
  const log = pino({ base: null }, process.stderr);
  try {
    const options = { workers: Number(env.WORKERS), nodeId: env.NAME, host: '127.0.0.1', port: Number(env.PORT) };
    process.exit(await supervise({ ...options, env, entry: ENTRY, log, times: JSON.parse(env.TIMES ?? '{}') }));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** Lines in two writes, from every worker at the same time: the supervisor makes whole ones of them. */
async function tearLines(): Promise<void> {
  for (let n = 0; n < TORN_LINES; n++) {
    writeSync(2, `{"event":"torn","node":"${env.NODE_ID}",`);
    await nextTick();
    writeSync(2, '"whole":true}\n');
    await nextTick();
  }
}

function work(): void {
  const told = (what: string) => existsSync(join(env.DIR ?? '', `${what}-${env.NODE_ID}`));
  const { WORKERS, BANNER, SUPERVISED } = env;
  tell({ event: 'started', port: env.PORT, workers: WORKERS ?? null, args: process.argv.slice(2), execArgv: process.execArgv });
  if (told('fail')) {
    writeSync(2, 'PORT is "x", but it must be a number.\n');
    process.exit(3);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      tell({ event: 'asked', signal });
      if (!told('stubborn')) setImmediate(() => process.exit(0));
    });
  }
  process.on('SIGUSR2', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
  if (BANNER === 'on') process.stdout.write(`Up with ${SUPERVISED} workers.\n`);
  setImmediate(() => {
    tell({ event: 'listening' });
    process.send?.({ kind: 'listening', port: Number(env.PORT) || FREE_PORT, publicUrl: 'http://127.0.0.1' });
    const sayAlive = () => process.send?.({ kind: 'alive' });
    sayAlive();
    setInterval(sayAlive, 50);
    if (told('torn')) void tearLines();
  });
}

if (env.SUPERVISED === undefined) await superviseItself();
else work();
