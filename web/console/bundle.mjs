/**
 * Makes the console app: scripts and styles with hashed names in dist/web/console/assets, the page that names them beside it, each with a
 * copy for gzip and for br. Fails when the first load gets too large.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { NOTICES_FOOTER, writeNotices } from '../notices.mjs';
import { SPARED } from '../sdk/prose/spared.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const out = join(root, 'dist', 'web', 'console');
const assets = join(out, 'assets');

/** What a browser has to load before it shows a page, as it travels (PAGE-4). */
const FIRST_LOAD_MAX_BYTES = 150_000;

/** The preview draws the widget, whose styles are text that its shadow root adopts. */
const widgetStyles = {
  name: 'widget styles',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]web[/\\]sdk[/\\]look[/\\][^/\\]*\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8'),
      loader: 'text',
    }));
  },
};

const ENTRY = 'web/console/main.tsx';

/**
 * Says of each part that is loaded later that it needs the first load. Else esbuild cuts the first load into a file for each set of parts
 * that share something of it: 17 files that are always loaded together, and compress worse than one.
 */
const firstLoadInOneFile = {
  name: 'first load in one file',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, importer, resolveDir }) => {
      if (kind !== 'dynamic-import' || importer.includes('node_modules')) return undefined;
      return { path: join(resolveDir, path), namespace: 'later' };
    });
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: `import ${JSON.stringify(join(root, ENTRY))}; export * from ${JSON.stringify(path)};`,
      resolveDir: root,
    }));
  },
};

rmSync(assets, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { console: ENTRY, look: 'web/console/look/look.css' },
  outdir: assets,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  alias: SPARED,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022'],
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  footer: NOTICES_FOOTER,
  logLevel: 'warning',
  metafile: true,
  plugins: [widgetStyles, firstLoadInOneFile],
});

/** The file and all that it imports at once; pages and what they need are imported later. */
function loadedWith(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind } of metafile.outputs[file].imports) if (kind === 'import-statement') loadedWith(path, seen);
  return seen;
}

function outputOf(entry) {
  return Object.keys(metafile.outputs).find((file) => metafile.outputs[file].entryPoint === entry);
}

/** Writes the file as it is and compressed; returns its size under gzip. */
function writeCompressed(file, bytes) {
  const gzip = gzipSync(bytes, { level: 9 });
  writeFileSync(file, bytes);
  writeFileSync(`${file}.gz`, gzip);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  return gzip.length;
}

const sizes = new Map();
for (const file of Object.keys(metafile.outputs)) {
  const path = join(root, file);
  sizes.set(file, writeCompressed(path, readFileSync(path)));
}

writeNotices(assets, root, metafile);

const script = outputOf(ENTRY);
const style = outputOf('web/console/look/look.css');
const first = [...loadedWith(script)];
const bytes = first.reduce((sum, file) => sum + sizes.get(file), 0);
if (bytes > FIRST_LOAD_MAX_BYTES) {
  const parts = first.map((file) => `${basename(file)} ${sizes.get(file)}`).join(', ');
  process.stderr.write(`The console's first load has ${bytes} bytes of script under gzip, over ${FIRST_LOAD_MAX_BYTES}: ${parts}\n`);
  process.exit(1);
}

const address = (file) => `/console/assets/${basename(file)}`;
const head = [
  `<link rel="stylesheet" href="${address(style)}">`,
  ...first.filter((file) => file !== script).map((file) => `<link rel="modulepreload" href="${address(file)}">`),
  `<script type="module" src="${address(script)}"></script>`,
];
const page = readFileSync(join(here, 'index.html'), 'utf8').replace('{{head}}', head.join('\n    '));
writeCompressed(join(out, 'index.html'), Buffer.from(page));
