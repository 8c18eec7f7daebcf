/** The load tester as people start it: a process of its own, with what it said and the report that it wrote. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../../bench/loadtest/report.ts';
import { atEnd, temporaryDir } from '../../support/temporary-dir.ts';

const MAIN = fileURLToPath(new URL('../../../bench/loadtest/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What `--json` was written; undefined when nothing was. */
  readonly report: Report | undefined;
  readonly html: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Resolves once it has said this. */
  said(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts it with these arguments, and with files for its reports. */
export function startLoadTest(t: TestContext, args: readonly string[]): Started {
  const dir = temporaryDir(t);
  const [json, html] = [join(dir, 'report.json'), join(dir, 'report.html')];
  const child = spawn(process.execPath, ['--enable-source-maps', MAIN, '--json', json, '--html', html, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(t, () => child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const contentOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const ended = once(child, 'close').then(([code]): Ended => {
    const text = contentOf(json);
    return {
      code: code as number | null,
      stdout,
      stderr,
      report: text === '' ? undefined : (JSON.parse(text) as Report),
      html: contentOf(html),
    };
  });
  const said = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(stdout + stderr)) return;
        child.stdout.off('data', look);
        child.stderr.off('data', look);
        resolve();
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      void ended.then(() => reject(new Error(`it ended before it said ${pattern}: ${stdout}${stderr}`)));
      look();
    });
  return { child, said, ended };
}

/** As `startLoadTest`, to its end. */
export function loadTest(t: TestContext, args: readonly string[]): Promise<Ended> {
  return startLoadTest(t, args).ended;
}
