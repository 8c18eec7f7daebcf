/**
 * Compiles the project into dist/ when something changed since the last time, and says so; takes away what was made of sources that are
 * gone, so that nothing of an earlier tree can run or be tested.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, 'dist');
/** What the last build that went well was made of. */
const stamp = join(dist, '.built-from');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

/** Folders below a room that hold no sources: packages of the benchmark's peers, what benchmarks write, and what program/bundle.mjs does. */
const NOT_OURS = new Set(['node_modules', 'out', 'bundle']);

/** Files below `folder` that `matches`, as paths, sorted. */
function filesIn(folder, matches) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(path, matches);
      return entry.isFile() && matches.test(entry.name) ? [path] : [];
    })
    .sort();
}

/** Rooms and the files at the root, as the compiler is told of them. */
const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
const sources = include.flatMap((name) =>
  name === '*.ts'
    ? readdirSync(root)
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(root, file))
    : filesIn(join(root, name), /\.(?:tsx?|json|css|html|mjs)$/),
);

/** What runs in a browser: types are checked with a browser's, and scripts are made by each folder's own bundle.mjs, where it has one. */
const apps = ['console', 'sdk', 'demo', 'react', 'react-native', 'widget'].map((name) => join('web', name));
const isOfApp = (path) => apps.some((app) => path.startsWith(join(root, app) + sep) || path.startsWith(join(dist, app) + sep));

/** Contents, not times: a checkout or a copy sets those anew. Dependencies count by what the lock file names. */
function fingerprint() {
  const hash = createHash('sha256').update(process.version);
  for (const path of [...['package-lock.json', 'tsconfig.json', 'build.mjs'].map((name) => join(root, name)), ...sources]) {
    hash.update(`\n${relative(root, path)}\n`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

const made = new Set(filesIn(dist, /\.js(?:\.map)?$/).filter((path) => !isOfApp(path)));
for (const path of made) {
  if (!existsSync(join(root, relative(dist, path).replace(/\.js(?:\.map)?$/, '.ts')))) rmSync(path);
}
const isWhole =
  ['bundle/main.js', 'bundle/cli.js', 'web/console/index.html', 'web/demo/components.html'].every((path) => existsSync(join(dist, path))) &&
  sources
    .filter((path) => /(?<!\.d)\.ts$/.test(path) && !isOfApp(path))
    .every((path) => made.has(join(dist, relative(root, path)).replace(/\.ts$/, '.js')));
const now = fingerprint();
if (isWhole && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) process.exit(0);

process.stderr.write('Compiling what changed: this takes some seconds, the first time up to a minute …\n');
rmSync(stamp, { force: true });
const steps = [
  [compiler, '-p', join(root, 'tsconfig.json')],
  ...apps.map((app) => [compiler, '-p', join(root, app)]),
  ...['program', ...apps].map((room) => [join(root, room, 'bundle.mjs')]).filter(([bundle]) => existsSync(bundle)),
];
let status = 0;
for (const step of steps) if (status === 0) status = spawnSync(process.execPath, step, { stdio: 'inherit' }).status ?? 1;
if (status === 0) writeFileSync(stamp, now);
else
  process.stderr.write('The build failed. Where a package or its types are missing above, the installed packages are old: run npm ci.\n');
process.exit(status);
