/**
 * Makes a package of a folder of web/: `node web/pack.mjs client|react|react-native|widget [folder]`. Compiles what `exports` of its package.json names, with
 * declarations, and keeps of it what can be reached from there, the parts of protocol/ included. The sources stay one module a file, so
 * that a bundler leaves out what an app does not use and nobody needs one. Declarations name store-types.d.ts in the place of @xstate/store,
 * whose types are of xstate's.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [name = '', folder] = process.argv.slice(2);
const here = join(root, 'web', name);
if (name === '' || !existsSync(join(here, 'package.json'))) {
  process.stderr.write('Usage: node web/pack.mjs client|react|react-native|widget [folder]\n');
  process.exit(2);
}
const out = resolve(folder ?? join(root, `dist-${name}`));
const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** All packages have the service's version: they are made of one tree. */
const manifest = { ...JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')), version, license };
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
    noEmit: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const sources = entries.map((entry) => [`${entry}.ts`, `${entry}.tsx`].map((path) => join(root, path)).find((path) => existsSync(path)));
  // What an app brings along is declared beside the sources, as far as it is used.
  const declared = readdirSync(here).filter((file) => file.endsWith('.d.ts'));
  const files = [...sources, ...declared.map((file) => join(here, file))];
  const base = [join(here, 'tsconfig.json'), join(root, 'tsconfig.json')].find((path) => existsSync(path));
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, files, include: [] }));
  const { status } = spawnSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Specifiers of every static and dynamic import and re-export, of types as well. */
function importsOf(text) {
  const patterns = [
    /^\s*(?:import|export)\s[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^\s*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]));
}

/** Where a file of the package is: compiled, or among the sources where it is a declaration there. */
function made(folder, path) {
  return existsSync(join(folder, path)) ? join(folder, path) : join(root, path);
}

/** As it goes into the package. */
function textOf(folder, path) {
  const text = readFileSync(made(folder, path), 'utf8');
  if (!path.endsWith('.d.ts')) return text;
  const stores = relative(dirname(path), 'web/store-types.js').replace(/^(?!\.)/, './');
  // Declarations name sources; beside a module lies its declaration.
  return text.replace(/(['"]\.{1,2}\/[^'"]+)(?<!\.d)\.tsx?(['"])/g, '$1.js$2').replaceAll(/(['"])@xstate\/store\1/g, `$1${stores}$1`);
}

/** Files with this ending that can be reached from the entries, and the packages that they import. */
function reach(folder, ending) {
  const files = new Set();
  const packages = new Set();
  const visit = (path) => {
    if (files.has(path)) return;
    files.add(path);
    for (const specifier of importsOf(textOf(folder, path))) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(path), specifier.replace(/(?<!\.d)\.(?:js|tsx?)$/, ending))));
      else
        packages.add(
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
  };
  for (const entry of entries) visit(`${entry}${ending}`);
  return { files: [...files], packages: [...packages] };
}

const work = mkdtempSync(join(tmpdir(), `assistant-${name}-`));
try {
  compile(work);
  const compiled = join(work, 'out');
  rmSync(out, { recursive: true, force: true });
  for (const ending of ['.js', '.d.ts']) {
    const { files, packages } = reach(compiled, ending);
    const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
    const undeclared = packages.filter((name) => !Object.hasOwn(declared, name));
    if (undeclared.length > 0) throw new Error(`${ending} files import ${undeclared.join(', ')}, which package.json does not name`);
    for (const path of files) {
      mkdirSync(dirname(join(out, path)), { recursive: true });
      writeFileSync(join(out, path), textOf(compiled, path));
    }
  }
  copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  copyFileSync(join(here, 'README.md'), join(out, 'README.md'));
  copyFileSync(join(root, 'docs/upgrades.md'), join(out, 'CHANGELOG.md'));
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  process.stderr.write(`The package is in ${relative(process.cwd(), out) || out}: npm pack makes its tarball there.\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
