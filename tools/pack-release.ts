/**
 * `npm run pack:release`: one archive that starts with nothing but Node, the npm package that it is made of, and beside them a bill of materials,
 * the licences of what is inside, and checksums. The same tree gives the same bytes: names are sorted, owners and times fixed (SOURCE_DATE_EPOCH, or
 * the last commit's). It needs npm and GNU tar; nothing is compiled.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../tests/support/project-root.ts';
import { billOfMaterials, type Lock, licencesOf, type Packages, packagesFor, type Target } from './release-contents.ts';

const root = projectRoot();
const NATIVE_SQLITE = 'build/Release/better_sqlite3.node';

/** What of a package the program can use, where the rest is large. The first expression of a name wins. */
function keptOf(name: string, { platform, cpu, abi }: Target): RegExp | undefined {
  const kept: Readonly<Record<string, RegExp>> = {
    'uWebSockets.js': new RegExp(`^(?:uws\\.js|ESM_wrapper\\.mjs|package\\.json|LICENSE|uws_${platform}_${cpu}_${abi}\\.node)$`),
    'better-sqlite3': new RegExp(`^(?:lib/.*|package\\.json|LICENSE|${NATIVE_SQLITE})$`),
    'pdfjs-dist': /^(?:legacy\/build\/pdf(?:\.worker)?\.mjs|package\.json|LICENSE)$/,
  };
  return kept[name];
}

/** Types, maps and texts for people who write programs. */
const NOT_RUN = /\.(?:d\.[cm]?ts|[cm]?ts|tsx|map|md|markdown|flow|tsbuildinfo)$|(?:^|\/)\.[^/]*$/i;
const LEGAL = /(?:^|\/)(?:licen[cs]e|notice|copying)[^/]*$/i;
/** At the top of a package only: below it may be anything. */
const NOT_RUN_FOLDERS = /^(?:tests?|__tests__|examples?|benchmarks?|coverage)\//i;

function run(command: string, args: readonly string[], cwd = root): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (error !== undefined || status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Where a package lies: installed here, or, for another platform, fetched into `fetched` and held against the lock file. */
function folderOf(path: string, { version, integrity }: Packages[string], fetched: string): string {
  const installed = join(root, path);
  if (existsSync(installed)) return installed;
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const into = mkdtempSync(join(fetched, 'package-'));
  run('npm', ['pack', '--silent', '--pack-destination', into, `${name}@${version}`]);
  const file = join(into, readdirSync(into)[0] ?? '');
  const sum = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (sum !== integrity) throw new Error(`${name}@${version} is not what package-lock.json names: ${sum}`);
  run('tar', ['-xzf', file, '-C', into]);
  return join(into, 'package');
}

function copyPackage(from: string, to: string, kept: RegExp | undefined): void {
  cpSync(from, to, {
    recursive: true,
    filter: (source) => {
      const path = relative(from, source);
      if (path === '') return true;
      if (path === 'node_modules') return false;
      if (statSync(source).isDirectory()) return !NOT_RUN_FOLDERS.test(`${path}/`);
      return kept === undefined ? LEGAL.test(path) || !NOT_RUN.test(path) : kept.test(path);
    },
  });
}

/** Folders in which nothing was kept. */
function removeEmpty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

/** Compiled for this Node on this platform; for another one it has to be given. */
function putSqlite(stage: string, target: Target, given: string | undefined): void {
  const isOurs = target.platform === process.platform && target.cpu === process.arch;
  if (!isOurs && given === undefined) {
    const why = 'nobody publishes its binary on the npm registry, and it is not cross-compiled here';
    throw new Error(`better-sqlite3 for ${target.cpu}: ${why}. Give one that was compiled there with --better-sqlite3 <file>.`);
  }
  if (given !== undefined) copyFileSync(given, join(stage, 'node_modules/better-sqlite3', NATIVE_SQLITE));
}

interface Manifest {
  readonly version: string;
  readonly [name: string]: unknown;
}

/** package.json as an operator has it: what starts is compiled, and there is nothing to build with. */
function releasedManifest({ devDependencies: _, allowScripts: __, files: ___, ...manifest }: Manifest): object {
  return { ...manifest, scripts: { start: 'exec node dist/main.js', cli: 'exec node --enable-source-maps dist/cli.js' } };
}

function pack(): void {
  const { values } = parseArgs({
    options: {
      cpu: { type: 'string', default: process.arch },
      out: { type: 'string', default: 'dist-release' },
      'better-sqlite3': { type: 'string' },
    },
  });
  const out = resolve(root, values.out);
  const target: Target = { platform: 'linux', cpu: values.cpu, abi: process.versions.modules };
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const madeAtS = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
  const name = `assistant-service-${manifest.version}-${target.platform}-${target.cpu}-node${process.versions.node.split('.', 1)[0]}`;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'assistant-release-'));
  try {
    const stage = join(work, name);
    mkdirSync(stage);
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out]);
    run('tar', ['-xzf', join(out, `assistant-service-${manifest.version}.tgz`), '--strip-components=1', '-C', stage]);
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(releasedManifest(manifest), null, 2)}\n`);
    const packages = packagesFor(lock, target);
    for (const [path, entry] of Object.entries(packages)) {
      const own = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      copyPackage(folderOf(path, entry, work), join(stage, path), keptOf(own, target));
    }
    putSqlite(stage, target, values['better-sqlite3']);
    removeEmpty(stage);
    // All packages are asked for: with --omit=dev npm leaves out some that development needs as well.
    const bill = run('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']);
    writeFileSync(join(stage, 'sbom.cdx.json'), billOfMaterials(bill, packages, Number(madeAtS)));
    writeFileSync(join(stage, 'LICENSES.txt'), licencesOf(stage, packages));
    for (const [file, ending] of [
      ['sbom.cdx.json', 'cdx.json'],
      ['LICENSES.txt', 'licenses.txt'],
    ] as const) {
      copyFileSync(join(stage, file), join(out, `${name}.${ending}`));
    }
    const order = ['--sort=name', '--format=gnu', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', `--mtime=@${madeAtS}`];
    run('sh', ['-c', `tar ${order.join(' ')} -cf - "$1" | gzip -6n > "$2"`, 'sh', name, join(out, `${name}.tar.gz`)], work);
    const sums = readdirSync(out)
      .sort()
      .map(
        (file) =>
          `${createHash('sha256')
            .update(readFileSync(join(out, file)))
            .digest('hex')}  ${file}\n`,
      );
    writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
    const unpackedMb = Number(run('du', ['-sm', stage]).split('\t')[0]);
    const packedMb = Math.ceil(statSync(join(out, `${name}.tar.gz`)).size / 1e6);
    process.stdout.write(
      `${join(out, `${name}.tar.gz`)}: ${packedMb} MB, ${unpackedMb} MB on disk, for Node ${process.versions.node.split('.', 1)[0]}\n`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  pack();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
