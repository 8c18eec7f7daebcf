/**
 * Makes the pages of the demo: scripts with hashed names in dist/web/demo/assets, the pages that name them beside it, and the pictures, each
 * with a copy for gzip and for br. Styles are text in the scripts, adopted by the page as the widget's are.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { NOTICES_FOOTER, writeNotices } from '../notices.mjs';
import { SPARED } from '../sdk/prose/spared.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const out = join(root, 'dist', 'web', 'demo');
const assets = join(out, 'assets');
const pictures = join(out, 'pictures');

/** Pages by the name of their file, with the script that each begins with. */
const PAGES = { shop: 'web/demo/shop/main.tsx', components: 'web/demo/components/main.tsx' };

for (const folder of [assets, pictures]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: PAGES,
  outdir: assets,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  alias: SPARED,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022'],
  loader: { '.css': 'text' },
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  footer: NOTICES_FOOTER,
  logLevel: 'warning',
  metafile: true,
});

function writeCompressed(file, bytes) {
  writeFileSync(file, bytes);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
}

for (const file of Object.keys(metafile.outputs)) writeCompressed(join(root, file), readFileSync(join(root, file)));
writeNotices(assets, root, metafile);
for (const name of readdirSync(join(here, 'pictures'))) writeCompressed(join(pictures, name), readFileSync(join(here, 'pictures', name)));

/** The file and all that it imports at once. */
function loadedWith(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind } of metafile.outputs[file].imports) if (kind === 'import-statement') loadedWith(path, seen);
  return seen;
}

for (const [name, entry] of Object.entries(PAGES)) {
  const script = Object.keys(metafile.outputs).find((file) => metafile.outputs[file].entryPoint === entry);
  const address = (file) => `/demo/assets/${basename(file)}`;
  const head = [
    ...[...loadedWith(script)].filter((file) => file !== script).map((file) => `<link rel="modulepreload" href="${address(file)}">`),
    `<script type="module" src="${address(script)}"></script>`,
  ];
  const page = readFileSync(join(here, `${name}.html`), 'utf8').replace('{{head}}', () => head.join('\n    '));
  writeCompressed(join(out, `${name}.html`), Buffer.from(page));
}
