/**
 * `npm run mutate [-- rule or part of a path …]`: breaks each guarantee of docs/specification/breaks.json on purpose, one at a time, in a
 * copy of the compiled program, and runs the tests whose titles name its rule. A break that none of them notices is a survivor, and the run fails.
 * `npm run mutate -- --some [day]` tries some six of them, on each day others, so that all are tried within two weeks.
 * The idea is mutation testing (DeMillo, Lipton and Sayward, 1978), with mutants that are chosen rather than made by rule.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { endLeftBehind, testFolder } from '../tests/support/left-behind.ts';
import { projectRoot } from '../tests/support/project-root.ts';
import { type Break, broken, readBreaks } from './breaks.ts';
import { readTests } from './specification.ts';

/** A break may make a test wait for ever: that is noticed too. */
const TEST_TIMEOUT_MS = 120_000;
/** As many as two cores try in five minutes. */
const SOME = 6;
const DAY_MS = 86_400_000;
/** Of power: a break is there all the time. */
const FEW_CUTS = '20';
const FEW_SEEDS = '40';

const root = projectRoot();

/**
 * A compiled program of its own that may be broken, beside dist/, where it finds packages and documents in the same places. It starts from its
 * files, not from a bundle of them, in which nothing would be broken.
 */
async function copyOfProgram(): Promise<string> {
  const copy = mkdtempSync(join(root, 'dist-mutant-'));
  cpSync(join(root, 'dist'), copy, { recursive: true });
  for (const path of ['main.ts', 'cli.ts']) writeFileSync(compiledPath(copy, path), await compile(readFileSync(join(root, path), 'utf8')));
  return copy;
}

const compiledPath = (copy: string, path: string) => join(copy, path.replace(/\.ts$/, '.js'));

/** As the compiler leaves it: without types, and with the endings of what is compiled. */
async function compile(source: string): Promise<string> {
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'es2023' });
  return code.replaceAll(/((?:from|import)\s*\(?\s*)"(\.[^"]+)\.ts"/g, '$1"$2.js"');
}

/** Runs tests of the copy that name one of the rules: the titles that failed; empty when all passed. */
function failing(copy: string, tests: readonly string[], rules: readonly string[]): Promise<string[]> {
  const seed = compiledPath(copy, 'tests/support/seed.ts');
  const files = tests.map((path) => compiledPath(copy, join('tests', path)));
  const flags = ['--import', seed, '--test', '--test-reporter=tap', `--test-timeout=${TEST_TIMEOUT_MS}`, '--test-force-exit'];
  flags.push(`--test-name-pattern=/\\b(?:${rules.join('|')})\\b/`);
  const folder = testFolder();
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { CUTS: FEW_CUTS, SEEDS: FEW_SEEDS, ...process.env, TMPDIR: folder },
  });
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    report += chunk;
  });
  return new Promise((resolve) => {
    child.once('close', async (code) => {
      // A test that came to no end has not ended what it started.
      await endLeftBehind(child.pid as number, folder, 0);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      // A file stands for its tests where one of them came to no end.
      const titles = Array.from(report.matchAll(/^ *not ok \d+ - (.+)$/gm), ([, title = '']) =>
        title.startsWith(copy) ? `no end: ${title.slice(copy.length + 1)}` : title,
      );
      resolve(code === 0 ? [] : titles.length > 0 ? titles : [`ended with ${code}`]);
    });
  });
}

/** Not asked: they take minutes each. */
const SLOW = /^(?:browser|chaos|fuzz)\//;
const proofs = readTests().filter(({ file }) => !SLOW.test(file));

/** Files whose titles name the rule, those first that start no program. */
function testsOf(rule: string): string[][] {
  const files = [...new Set(proofs.filter(({ ids }) => ids.includes(rule)).map(({ file }) => file))];
  const starts = (file: string) => /^(?:kills|program|scenarios|bench)\//.test(file);
  return [files.filter((file) => !starts(file)), files.filter(starts)].filter((some) => some.length > 0);
}

/** What noticed the break: titles of tests; empty: nothing did. */
async function noticed(copy: string, one: Break): Promise<string[]> {
  const path = compiledPath(copy, one.file);
  const whole = readFileSync(path);
  writeFileSync(path, await compile(broken(one, readFileSync(join(root, one.file), 'utf8'))));
  try {
    for (const tests of testsOf(one.rule)) {
      const titles = await failing(copy, tests, [one.rule]);
      if (titles.length > 0) return titles;
    }
    return [];
  } finally {
    writeFileSync(path, whole);
  }
}

/** Every so many of the list, which goes from subject to subject. */
function someOf(breaks: readonly Break[], day: number): Break[] {
  const step = Math.ceil(breaks.length / SOME);
  process.stdout.write(`some breaks of day ${day}: npm run mutate -- --some ${day} tries them again\n`);
  return breaks.filter((_, index) => index % step === day % step);
}

function chosen([first, day, ...more]: readonly string[]): Break[] {
  if (first === '--some') return someOf(readBreaks(), day === undefined ? Math.floor(Date.now() / DAY_MS) : Number(day));
  const words = [first, day, ...more].filter((word) => word !== undefined);
  return readBreaks().filter(({ rule, file }) => words.length === 0 || words.some((word) => rule === word || file.includes(word)));
}

async function main(words: readonly string[]): Promise<void> {
  const breaks = chosen(words);
  if (breaks.length === 0) throw new Error(`No break is of ${words.join(' or ')}: breaks.json lists them.`);
  const lanes = await Promise.all(Array.from({ length: Math.min(availableParallelism(), breaks.length) }, copyOfProgram));
  const survivors: Break[] = [];
  try {
    const [first = ''] = lanes;
    const rules = breaks.map(({ rule }) => rule);
    const before = await failing(first, [...new Set(rules.flatMap((rule) => testsOf(rule)[0] ?? []))], rules);
    if (before.length > 0) throw new Error(`These fail without a break: ${before.join('; ')}`);
    const waiting = [...breaks];
    await Promise.all(
      lanes.map(async (copy) => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
          const titles = await noticed(copy, one);
          if (titles.length === 0) survivors.push(one);
          process.stdout.write(`${titles.length === 0 ? 'SURVIVES' : 'noticed'}  ${one.rule}  ${one.breaks}  [${titles[0] ?? one.file}]\n`);
        }
      }),
    );
  } finally {
    for (const copy of lanes) rmSync(copy, { recursive: true, force: true });
  }
  process.stdout.write(`${breaks.length - survivors.length} of ${breaks.length} breaks were noticed\n`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
}

await main(process.argv.slice(2));
