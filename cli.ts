/** The program behind `npm run cli -- <command>`: gives commands this process' environment and streams. */
import { setTimeout as pause } from 'node:timers/promises';
import { runCli } from './program/cli/run.ts';
import { readConfig } from './program/config.ts';

// Whoever reads the answer may have seen enough of it, as `head` does.
process.stdout.on('error', () => process.exit(0));

process.exitCode = await runCli(process.argv.slice(2), {
  config: (also) => readConfig({ ...process.env, ...also }),
  print: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
  nowMs: Date.now,
  pause: (ms) => pause(ms),
});
