/**
 * Makes the web SDK in dist/web/sdk/<version>/: a module, a classic script, the stub that draws the launcher and loads it, and what both load later. Writes their hashes into
 * files.json, and fails when what every page loads gets too large.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { NOTICES_FOOTER, writeNotices } from '../notices.mjs';
import { SPARED } from './prose/spared.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const out = join(root, 'dist', 'web', 'sdk', 'served');

/** What a page with the widget loads, as it travels (WIDGET-6): with what keeps several tabs from doing a thing twice. */
const FIRST_LOAD_MAX_BYTES = 62_000;
/** What a page loads whose panel nobody opens. */
const STUB_MAX_BYTES = 6_000;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const shared = {
  absWorkingDir: root,
  outdir: out,
  alias: SPARED,
  bundle: true,
  // The first with light-dark() and popovers.
  target: ['es2022', 'safari17.5', 'firefox125', 'chrome123'],
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.css': 'text' },
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  footer: NOTICES_FOOTER,
  logLevel: 'warning',
  metafile: true,
};

/** Style sheets lose what only people read. */
const smallCss = {
  name: 'small css',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: shared.target });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

const { WEB_SDK_VERSION } = await import('../../dist/protocol/runtime/web-sdk.js');

/** Parts draw with the Preact of whoever loads them: see module.ts. */
const sharedPreact = {
  name: 'shared preact',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^preact(?:\/|$)/ }, ({ path }) => ({ path, namespace: 'shared' }));
    onLoad({ filter: /.*/, namespace: 'shared' }, () => ({
      contents: `export const { Component, Fragment, jsx, jsxs, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } =
        globalThis[Symbol.for('assistant-widget ${WEB_SDK_VERSION}')];`,
    }));
  },
};

/** Where parts lie that were made, by where their source lies. */
const partNames = new Map();

/** A part is found beside the script, whichever form that has. */
const partsBeside = {
  name: 'parts beside',
  setup({ onResolve }) {
    onResolve({ filter: /\/lazy\/|\.json$/ }, ({ path, resolveDir, kind }) => {
      const name = partNames.get(join(resolveDir, path));
      return kind === 'dynamic-import' && name !== undefined ? { path: `./${name}`, external: true } : undefined;
    });
  },
};

/** What is loaded when a block first needs it, each a module of its own. */
async function makeParts(...paths) {
  const { metafile } = await build({
    ...shared,
    entryPoints: paths.map((path) => join(root, 'web', 'sdk', path)),
    format: 'esm',
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    plugins: [smallCss, sharedPreact, partsBeside],
  });
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) partNames.set(join(root, entryPoint), basename(file));
  return metafile;
}

const languages = readdirSync(join(root, 'web/sdk/languages/lazy')).filter((name) => name.endsWith('.json'));

/** Each language is a part, which their table loads. */
const parts = [
  await makeParts(...languages.map((name) => `languages/lazy/${name}`)),
  await makeParts('blocks/lazy/barcode.tsx', 'blocks/lazy/code-colours.tsx', 'blocks/lazy/map-drawing.tsx'),
  await makeParts('blocks/lazy/later-views.ts', 'shell/lazy/conversations.tsx', 'prose/lazy/markdown.tsx', 'languages/lazy/table.ts'),
];

const plugins = [smallCss, partsBeside];
const module = await build({
  ...shared,
  entryPoints: { assistant: 'web/sdk/esm.ts' },
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  plugins,
});
/** The page for web views uses the module that lies beside it. */
const moduleBeside = {
  name: 'module beside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/esm\.ts$/ }, () => ({ path: './assistant.mjs', external: true }));
  },
};
const mobile = await build({
  ...shared,
  entryPoints: ['web/sdk/mobile.ts'],
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  plugins: [moduleBeside],
});
/** Wrapped by hand: esbuild's own wrapping brings what calls `require`, for the parts. */
const classic = await build({
  ...shared,
  entryPoints: { assistant: 'web/sdk/script.ts' },
  format: 'esm',
  banner: { js: '"use strict";(()=>{' },
  footer: { js: `})();\n${NOTICES_FOOTER.js}` },
  plugins,
});

function integrityOf(bytes) {
  return `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
}

function write(name, bytes) {
  const path = join(out, name);
  const gzip = gzipSync(bytes, { level: 9 });
  writeFileSync(path, bytes);
  writeFileSync(`${path}.gz`, gzip);
  writeFileSync(`${path}.br`, brotliCompressSync(bytes));
  return { name, integrity: integrityOf(bytes), bytes: bytes.length, gzip: gzip.length };
}

const metafiles = [module.metafile, mobile.metafile, classic.metafile, ...parts];
writeNotices(out, root, ...metafiles);

/**
 * What is asked for again has another address, because browsers keep what an import that failed came to: whoever loads a part passes what
 * goes behind its address.
 */
function loadingAgain(name) {
  // A classic script knows no place that its imports are of, where a page loads it without CORS: script.ts says it.
  const folder = name === 'assistant.js' ? `globalThis[Symbol.for("assistant-widget ${WEB_SDK_VERSION}")].folder+` : '';
  const again = (_, part) => (folder === '' ? `(a="")=>import("./${part}"+a)` : `(a="")=>import(${folder}"${part}"+a)`);
  const text = readFileSync(join(out, name), 'utf8').replaceAll(/\(\)=>import\("\.\/([\w-]+\.mjs)"\)/g, again);
  if (/import\("[^"]+"\)/.test(text) || (folder !== '' && !text.includes(`import(${folder}`)))
    fail(`${name} loads a part in another way than () => import().`);
  return Buffer.from(text);
}

const made = metafiles.flatMap(({ outputs }) => Object.keys(outputs));
const files = made.map((file) => basename(file)).map((name) => write(name, loadingAgain(name)));
const script = files.find(({ name }) => name === 'assistant.js');
const launcherWords = languages.map((name) => [
  name.slice(0, -'.json'.length),
  JSON.parse(readFileSync(join(root, 'web/sdk/languages/lazy', name), 'utf8')).launcher,
]);
const stub = await build({
  ...shared,
  entryPoints: { stub: 'web/sdk/stub.ts' },
  define: { ...shared.define, LAUNCHER_WORDS: JSON.stringify(Object.fromEntries(launcherWords)) },
  format: 'iife',
  plugins: [smallCss],
  footer: {},
  write: false,
});
const stubText = stub.outputFiles[0].text.replaceAll('{{version}}', WEB_SDK_VERSION).replace('{{integrity}}', script.integrity);
files.push(write('stub.js', Buffer.from(stubText)));

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

for (const { name, gzip } of files) {
  if (name.startsWith('assistant.') && gzip > FIRST_LOAD_MAX_BYTES)
    fail(`${name} has ${gzip} bytes under gzip, over ${FIRST_LOAD_MAX_BYTES}.`);
  if (name === 'stub.js' && gzip > STUB_MAX_BYTES) fail(`The stub has ${gzip} bytes under gzip, over ${STUB_MAX_BYTES}.`);
}
write('files.json', Buffer.from(JSON.stringify(files)));
