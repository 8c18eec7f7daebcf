/** Entry point of the load tester: `node dist/bench/loadtest/main.js --url … --key …`; `--help` and docs/load-testing.md say the rest. */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readPlan } from './options.ts';
import { type Report, stoppedCode } from './report.ts';
import { reportHtml } from './report-html.ts';
import { reportText } from './report-text.ts';
import { run, type Stopping } from './run.ts';
import { CannotRun, HELP } from './usage.ts';

/** A terminal sends Ctrl-C to npm and to this program, and npm passes its own on: signals so close to each other are one. */
const SAME_SIGNAL_MS = 500;

function listenForStop(): Stopping {
  const [gently, atOnce] = [new AbortController(), new AbortController()];
  let by: 'SIGINT' | 'SIGTERM' | undefined;
  let firstMs = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (by === undefined) {
        firstMs = performance.now();
        process.stderr.write('\nEnding: open streams may finish for 10 s. Once more to end at once.\n');
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) atOnce.abort();
      by ??= signal;
      gently.abort();
    });
  }
  return { gently: gently.signal, atOnce: atOnce.signal, by: () => by };
}

function cannotWrite(file: string, error: unknown): CannotRun {
  return new CannotRun(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}): name a file in a folder that is there.`);
}

/** Fails early where a report file cannot be written, without touching an older report. */
function checkWritable(file: string | undefined): void {
  if (file === undefined) return;
  try {
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function write(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function writeFiles(plan: { readonly jsonFile: string | undefined; readonly htmlFile: string | undefined }, report: Report): void {
  if (plan.jsonFile !== undefined) write(plan.jsonFile, `${JSON.stringify(report, undefined, 2)}\n`);
  if (plan.htmlFile !== undefined) write(plan.htmlFile, reportHtml(report));
}

async function main(): Promise<number> {
  const plan = readPlan(process.argv.slice(2));
  if (plan === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  for (const file of [plan.jsonFile, plan.htmlFile]) checkWritable(file);
  const report = await run(plan, process.stdout, stopping);
  process.stdout.write(reportText(report));
  writeFiles(plan, report);
  return report.verdict.exit_code;
}

const stopping = listenForStop();
main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    // An unexpected error is a bug: show where it was thrown.
    const [, place = ''] = error instanceof Error ? (error.stack ?? '').split('\n') : [];
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `loadtest: ${error instanceof CannotRun ? message : `a fault of the load tester itself: ${message} (${place.trim()})`}\n`,
    );
    const by = stopping.by();
    process.exitCode = by === undefined ? 2 : stoppedCode(by);
  },
);
