/**
 * Makes few files of the many that a start reads: dist/bundle has the program, its command line and the threads that it always has, each with
 * what it imports, packages included. To load them one by one is half of what a start costs. dist/main.js and dist/cli.js become the ways in;
 * all other compiled files stay as they are, for threads and processes that few starts need, and for tests.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';
import { writeNotices } from '../web/notices.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const out = join(dist, 'bundle');

const WAYS_IN = ['main', 'cli'];
const THREADS = ['storage/sqlite/writer-thread', 'storage/transactions', 'storage/long-reads-thread'];

/** They are compiled for the machine, or look for files beside themselves. */
const APART = ['better-sqlite3', 'msgpackr', 'pdfjs-dist', 'pino', 'sharp', 'sqlite-vec', 'uWebSockets.js'];

const inBundle = (path) => path.replaceAll('/', '-');

/** A module still says that it is where it was, and finds what lies beside it; of the threads it starts those of the bundle. */
const addresses = {
  name: 'addresses',
  setup({ onLoad, onResolve }) {
    // The ways in are read as sources: what the compiler made of them is replaced below.
    onResolve({ filter: /^\.\/.*\.ts$/ }, ({ path }) => {
      const name = path.slice(2, -3);
      return { path: WAYS_IN.includes(name) ? join(root, path) : join(dist, `${name}.js`) };
    });
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const own = relative(dist, path);
      if (own.startsWith('..')) return undefined;
      const contents = readFileSync(path, 'utf8').replace(/new URL\('(\.[^']+)\.js', import\.meta\.url\)|import\.meta\.url/g, (all, to = '') => {
        const thread = join(dirname(own), to);
        if (THREADS.includes(thread)) return `new URL('./${inBundle(thread)}.js', import.meta.url)`;
        return all.replace('import.meta.url', `new URL('../${own}', import.meta.url).href`);
      });
      return { contents };
    });
  },
};

/** A log names lines (RUN-34): with the columns a map would be ten times as large, and be read while people wait. */
function keepLines(path) {
  const { mappings, sourcesContent: _, names: __, ...map } = JSON.parse(readFileSync(path, 'utf8'));
  const lines = decode(mappings).map((segments) => segments.slice(0, 1).map((segment) => segment.slice(0, 4)));
  writeFileSync(path, JSON.stringify({ ...map, names: [], mappings: encode(lines) }));
}

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [
    ...WAYS_IN.map((name) => ({ in: join(root, `${name}.ts`), out: name })),
    ...THREADS.map((path) => ({ in: join(dist, `${path}.js`), out: inBundle(path) })),
  ],
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: APART,
  plugins: [addresses],
  // What packages that are no modules call.
  banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
  sourcemap: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
writeNotices(out, root, metafile);
for (const path of Object.keys(metafile.outputs)) if (path.endsWith('.map')) keepLines(join(root, path));
for (const name of WAYS_IN) {
  writeFileSync(join(dist, `${name}.js`), `#!/usr/bin/env node\nimport './bundle/${name}.js';\n`);
  rmSync(join(dist, `${name}.js.map`), { force: true });
}
