/**
 * Makes the package of the headless client: `node web/client/pack.mjs [folder]`. Compiles what `exports` of package.json names, with
 * declarations, and keeps of it what can be reached from there, the parts of protocol/ included. The sources stay one module a file, so
 * that a bundler leaves out what an app does not use and nobody needs one. Of xstate only types are used, by those of @xstate/store.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const out = resolve(process.argv[2] ?? join(root, 'dist-client'));
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const entries = Object.values(manifest.exports).map((path) => path.slice('./'.length).replace(/\.js$/, ''));

/** Compiles the entries, and with them everything that they import, into `folder`. */
function compile(folder) {
  const compiler = join(dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')), 'bin', 'tsc');
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = {
    rootDir: root,
    outDir: join(folder, 'out'),
    declaration: true,
    sourceMap: false,
    incremental: false,
    tsBuildInfoFile: null,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const files = entries.map((entry) => join(root, `${entry}.ts`));
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] }));
  const { status } = spawnSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Specifiers of every static and dynamic import and re-export, of types as well. */
function importsOf(text) {
  const patterns = [/^\s*(?:import|export)\s[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm, /^\s*import\s*['"]([^'"]+)['"]/gm, /\bimport\(\s*['"]([^'"]+)['"]/g];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]));
}

/** Files with this ending that can be reached from the entries, and the packages that they import. */
function reach(folder, ending) {
  const files = new Set();
  const packages = new Set();
  const visit = (path) => {
    if (files.has(path)) return;
    files.add(path);
    for (const specifier of importsOf(readFileSync(join(folder, path), 'utf8'))) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(path), specifier.replace(/\.(?:js|ts)$/, ending))));
      else packages.add(specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/'));
    }
  };
  for (const entry of entries) visit(`${entry}${ending}`);
  return { files: [...files], packages: [...packages] };
}

const work = mkdtempSync(join(tmpdir(), 'assistant-client-'));
try {
  compile(work);
  const made = join(work, 'out');
  rmSync(out, { recursive: true, force: true });
  for (const ending of ['.js', '.d.ts']) {
    const { files, packages } = reach(made, ending);
    const undeclared = packages.filter((name) => !Object.hasOwn(manifest.dependencies, name));
    if (undeclared.length > 0) throw new Error(`${ending} files import ${undeclared.join(', ')}, which package.json does not name`);
    for (const path of files) {
      const text = readFileSync(join(made, path), 'utf8');
      mkdirSync(dirname(join(out, path)), { recursive: true });
      // Declarations name sources; beside a module lies its declaration.
      writeFileSync(join(out, path), ending === '.d.ts' ? text.replace(/(['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2') : text);
    }
  }
  for (const name of ['LICENSE']) if (existsSync(join(root, name))) copyFileSync(join(root, name), join(out, name));
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  process.stderr.write(`The package of the client is in ${relative(process.cwd(), out) || out}: npm pack makes its tarball there.\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
