/** The program behind `npm run cli -- <command>`: gives commands this process' environment and streams. */
import { setTimeout as pause } from 'node:timers/promises';
import { RELEASE } from './gateway/release.ts';
import { runCli } from './program/cli/run.ts';
import { readConfig, settingsInForce } from './program/config.ts';

// Whoever reads the answer may have seen enough of it, as `head` does.
process.stdout.on('error', () => process.exit(0));

const words = process.argv.slice(2);
if (words[0] === '--version') process.stdout.write(`${RELEASE}\n`);
else
  process.exitCode = await runCli(words, {
    config: (also) => readConfig({ ...process.env, ...also }),
    settings: () => settingsInForce(process.env),
    // Loaded for this command alone: it knows what Redis and models speak.
    examine: async () => (await import('./program/doctor.ts')).examine(process.env),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    nowMs: Date.now,
    pause: (ms) => pause(ms),
  });
