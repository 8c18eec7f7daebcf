/** The packages of web/: they pack, publint finds nothing, and in an empty project they install, type-check and run. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { snippetsIn } from '../../support/guide.ts';
import { projectRoot } from '../../support/project-root.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const root = projectRoot();
const CLIENT_MAX_BYTES = 30_000;
const REACT_MAX_BYTES = 1_950;
const LOADER_MAX_BYTES = 1_000;

function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const SOURCE = `
import { createAssistant } from '@assistant-service/client';
import { everywhere } from '@assistant-service/client/everywhere';
import { asBlockOf, fallbackOf } from '@assistant-service/client/blocks';
import { threadOf, type ThreadItem } from '@assistant-service/client/thread';
import type { LogCode } from '@assistant-service/client/log';

const codes: LogCode[] = [];
const surroundings = everywhere({ log: ({ code }) => codes.push(code), fetch: () => Promise.reject(new TypeError('no network')) });
const assistant = createAssistant(
  { address: 'https://assistant.example', key: 'rd_pk_test_1', sdk: 'web/1.0.0', abilities: { components: ['text'] } },
  surroundings,
);
assistant.registerAction({ name: 'look', description: 'Looks.', params: { order: { type: 'string' } } }, ({ order }) => ({ order }));
assistant.conversation.say('Hello');
const items: readonly ThreadItem[] = threadOf(assistant.conversation.store.get().context);
const [item] = items;
if (item?.kind !== 'turn') throw new Error('the turn is not shown');
for (const answered of item.turn.blocks) {
  fallbackOf(answered);
  const choice = answered.phase === 'ready' ? asBlockOf(answered.block, 'choice') : undefined;
  const labels: string[] | undefined = choice?.body.options.map(({ label }) => label);
  console.error(labels);
  // @ts-expect-error the catalog has a text there
  const prompt: number | undefined = choice?.body.prompt;
  console.error(prompt);
}
await assistant.ready;
await assistant.close();
console.log(item.turn.phase);
process.exit(0);
`;

const REACT_SOURCE = `
import { Assistant } from '@assistant-service/react';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';

const element = createElement(Assistant, {
  appKey: 'rd_pk_test_1',
  address: 'https://assistant.example',
  user: { id: 'person-1', hmac: '00' },
  theme: { accent: '#0a6' },
  setUp: (widget) => void widget.registerAction({ name: 'look', description: 'Looks.' }, () => ({})),
});
// @ts-expect-error the address is needed
createElement(Assistant, { appKey: 'rd_pk_test_1' });
console.log('[' + renderToString(element) + ']');
process.exit(0);
`;

const WIDGET_SOURCE = `
import { init, type WidgetEvent } from '@assistant-service/widget';

const told: WidgetEvent['type'][] = [];
export async function begin(): Promise<void> {
  const assistant = await init({ key: 'rd_pk_test_1', address: 'https://assistant.example', theme: { accent: '#0a6' } });
  assistant.registerAction({ name: 'look', description: 'Looks.' }, () => ({}));
  assistant.onEvent(({ type }) => told.push(type));
  // @ts-expect-error a text is wanted
  assistant.ask(42);
}
// @ts-expect-error the address is needed
init({ key: 'rd_pk_test_1' }).catch((error: Error) => {
  console.log(error.name);
  process.exit(0);
});
`;

const NATIVE_SOURCE = `
import { AssistantProvider, AssistantScreen, createNativeAssistant, native, type NativeApp } from '@assistant-service/react-native';
import { useThread } from '@assistant-service/react-native/hooks';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';

const values = new Map<string, string>();
const storage = {
  getItem: async (name: string) => values.get(name) ?? null,
  setItem: async (name: string, value: string) => void values.set(name, value),
  removeItem: async (name: string) => void values.delete(name),
};
const fetch = () => Promise.reject(new TypeError('no network'));
const assistant = createNativeAssistant({ address: 'https://assistant.example', key: 'rd_pk_test_1' }, native({ storage, fetch }));
const app: NativeApp = { onScreen: (route, params) => console.error(route, params) };
function Count() {
  return createElement('b', null, useThread().items.length);
}
const html = renderToString(createElement(AssistantProvider, { assistant, app }, createElement(AssistantScreen), createElement(Count)));
console.log(html.includes('What can I do for you?'), html.includes('<b>0</b>'));
process.exit(0);
`;

/** Declarations of a package whose app brings it along, and which is not installed here. */
const NATIVE_TYPES = readFileSync(join(root, 'web/react-native/react-native.d.ts'), 'utf8');

async function assertPublishable(made: string): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: made, pack: false, level: 'warning', strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg ?? {})),
    [],
  );
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const [{ version, files }] = JSON.parse(run(made, 'npm', 'pack', '--dry-run', '--json', '--ignore-scripts')) as [
    { version: string; files: { path: string }[] },
  ];
  assert.equal(version, own.version, 'all have one version, that of the service');
  const names = files.map(({ path }) => path);
  // Nothing is sent: it says whether the registry would take it.
  run(made, 'npm', 'publish', '--dry-run', '--ignore-scripts', '--offline');
  for (const wanted of ['LICENSE', 'README.md', 'CHANGELOG.md']) assert.ok(names.includes(wanted), wanted);
  assert.ok(!names.some((name) => /\btests?\b|\.map$|(?<!\.d)\.tsx?$/.test(name)), names.join(' '));
}

/** Packs a package of web/, installs it in an empty project, compiles `source` there and answers what it prints. */
async function inEmptyProject(
  t: TestContext,
  folder: string,
  source: string,
  others: readonly string[] = [],
  look: (home: string) => void = () => {},
): Promise<string> {
  const dir = temporaryDir(t);
  const made = join(dir, 'package');
  run(root, process.execPath, 'web/pack.mjs', folder, made);
  await assertPublishable(made);
  const [{ filename }] = JSON.parse(run(made, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', dir)) as [
    { filename: string },
  ];
  const project = join(dir, 'project');
  const home = join(project, 'node_modules/@assistant-service', folder);
  mkdirSync(home, { recursive: true });
  run(dir, 'tar', '-xzf', join(dir, filename), '-C', home, '--strip-components=1');
  look(home);
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const [name, version] of Object.entries(dependencies)) {
    assert.equal(own.dependencies[name], version, `${name} is of the version that the service has`);
  }
  for (const name of [...Object.keys(dependencies), ...others]) {
    // As an installation would put them there, without asking a registry.
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'index.ts'), `declare const process: { exit(code: number): never };\n${source}`);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2023',
    types: [],
    jsx: 'react-jsx',
    // Links as if they were folders: what a package imports is found in the project, as after an installation, and nowhere else.
    preserveSymlinks: true,
    outDir: 'out',
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }));
  // What the guide says of an app in TypeScript.
  if (folder === 'react')
    writeFileSync(join(project, 'help.tsx'), snippetsIn('tsx', 'docs/sdk.md')[0] ?? assert.fail('the guide has none'));
  if (folder === 'react-native') writeFileSync(join(project, 'react-native.d.ts'), NATIVE_TYPES);
  assert.equal(run(project, process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'), '');
  if (folder !== 'react-native') return run(project, process.execPath, '--preserve-symlinks', 'out/index.js').trim();
  await build({
    absWorkingDir: project,
    entryPoints: ['out/index.js'],
    outfile: 'out/bundle.cjs',
    bundle: true,
    platform: 'node',
    logLevel: 'error',
    preserveSymlinks: true,
    nodePaths: [join(root, 'node_modules')],
    alias: { 'react-native': 'react-native-web' },
  });
  return run(project, process.execPath, 'out/bundle.cjs').trim();
}

test('CLIENT-22: the client is a package that installs, type-checks and runs in an empty project', async (t) => {
  assert.equal(await inEmptyProject(t, 'client', SOURCE), 'preparing');
});

/** Bytes of what an app loads of `source`, minified and under gzip. */
async function weighed(contents: string, external: string[] = []): Promise<number> {
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: root }, bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', external },
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}

test('CLIENT-22, WIDGET-12, WIDGET-51: the packages weigh what the guides say', async () => {
  const client = await weighed("export { createAssistant } from './web/client/assistant.ts';");
  assert.ok(client <= CLIENT_MAX_BYTES, `${client} bytes of the client`);
  const react = await weighed("export { Assistant } from './web/react/assistant.ts';", ['react']);
  assert.ok(react <= REACT_MAX_BYTES, `${react} bytes of the component`);
  const widget = await weighed("export { init } from './web/widget/widget.ts';");
  assert.ok(widget <= LOADER_MAX_BYTES, `${widget} bytes of the loader`);
});

test('WIDGET-12, HOUSE-20: the React component is a package that installs, type-checks and runs in an empty project', async (t) => {
  const react = ['react', 'react-dom', 'scheduler', 'csstype', '@types/react', '@types/react-dom'];
  assert.equal(
    await inEmptyProject(t, 'react', REACT_SOURCE, react, (home) => {
      // Behind nothing but comments: a framework that renders on the server takes the module for one of the browser's then.
      const code = readFileSync(join(home, 'web/react/assistant.js'), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      assert.match(code.trimStart(), /^'use client';/);
    }),
    '[]',
  );
});

test('WIDGET-51: the widget is a package that installs, type-checks and runs in an empty project', async (t) => {
  // There is no page to load a script into, and no service at an address that is not given.
  assert.match(await inEmptyProject(t, 'widget', WIDGET_SOURCE), /^(?:Type|Reference)Error$/);
});

test('NATIVE-5: the screens of React Native are a package that installs, type-checks and runs in an empty project', async (t) => {
  const react = ['react', 'react-dom', 'react-native-web', 'csstype', '@types/react', '@types/react-dom'];
  assert.equal(await inEmptyProject(t, 'react-native', NATIVE_SOURCE, react), 'true true');
});
