/** The rules of the house that a program can check: which way imports run, where drivers may show, how long a file may be. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { filesBelow as pathsBelow } from './support/files-below.ts';
import { projectRoot } from './support/project-root.ts';
import { AWAITS_AT_TOP, ROOMS } from './support/rooms.ts';
import { temporaryDir } from './support/temporary-dir.ts';

const LINES_MAX = 350;
const FUNCTION_LINES_MAX = 70;

/**
 * Lines of TypeScript that each room may have, comments and blank lines included: what a small team can hold in its head. What is added is
 * paid for by what is taken out; a room that needs more says why here, beside its number, in a change of its own. Lower numbers follow
 * what was taken out.
 */
const BUDGET: Readonly<Record<string, number>> = {
  // 13 of them begin the warm-up.
  // 15 run a command and say what the machine lacks.
  '': 270,
  // 310 count hours of use for the console's first page, 110 keep what is left of the day and step a turn without copies,
  // 120 count what was tried by the hour, 140 tell a model of cards that wait and of components as calls,
  // 35 of the languages of the knowledge.
  // 360 sign what cells say, find their names in Redis and leave a silent one alone, 110 show what a model was shown, 70 count what fallbacks cost,
  // 110 make fewer objects a turn and open Redis behind sentinels, 80 let an app choose its models and say whether people get it.
  actors: 19_554,
  // 180 are the time line, placeholders, several queries and bodies that are read though they are broken,
  // 95 the languages of the knowledge.
  // 630 are the wires of two more makers and the way from one model to the next, 100 show requests to people, 80 write the instructions and the time of a request once,
  // 130 ask models in the order and the way that an app chose, and learn what a server does not take.
  assistant: 10_415,
  // 90 answer the first page and an app's summary, 100 the builds of an app and what its configuration is made of.
  // 60 delete conversations and keep parts of releases, 60 count and sum what alerts ask for, 60 check and pass on what cells say.
  // 30 search conversations by words and name what is traced, 120 count requests by time and refusals by code.
  gateway: 9_743,
  // 95 step flat machines without the general algorithm.
  machines: 3_412,
  // 340 of them are the warm-up, 19 the thread that moves long logs.
  // 520 are `config`, `doctor`, sums over workers and what a start says of the machine, 130 the list of models, 50 what of it is offered.
  program: 6_590,
  // 950 of them came from web and assistant: what the console's routes answer, typed once for both sides, and the samples of components.
  // 440 take bodies that are nearly right, and tell a body by what people read of it,
  // 36 are examples of the hardest components, 50 the choice of a model.
  protocol: 8_788,
  // 250 are hours of use and their schema step, 60 keep apps between reads, 70 what was said last,
  // 25 whether an app may be shown.
  storage: 13_780,
  // 85 are histograms of turns and rounds, 35 of searches, and deaths of parsers.
  watch: 920,
  // 450 are numbers of the first pages, 500 the widget's tools and conversations, 210 Markdown as CommonMark says, 230 pages of the console.
  // 400 check the widget's options and find parts that do not come, 180 draw what failed by the hour, 120 keep a turn with its tab.
  // 1,980 draw the conversation natively and in web views, 1,110 tell apps what happens and let them draw, 270 say what is wrong by name,
  // 70 are a package of the widget.
  // 440 draw machines so that they can be read in any frame and one waterfall for all pages, 430 the pages anew in plain words, 110 lead tabs whose leader has stopped,
  // 110 choose models, 170 give traces one clock and definitions of actions words, 200 say a state in one way on all pages and what a stopped tab had begun.
  web: 30_105,
  // 800 of them are the soak, 910 what the model is shown, most of it scenarios.
  bench: 12_580,
  // 1,900 of them are the simulation and 400 power cuts and what breaks notice.
  // 3,000 prove native and web views, releases and proxies, three wires, fallbacks, planted faults and cells' proofs,
  // 760 run every snippet of the guides, long failures, sentinels, and what is kept of conversations.
  // 310 prove cards of older builds, leaders that stop, what is mended and diagrams that can be read,
  // 1,370 choices of models, alerts that fire, stopped tabs and what pages say.
  tests: 92_916,
  // With the checker of streams, which stood in web before, and what breaks guarantees on purpose (150).
  // 290 pack a release.
  // 63 lay out machines for narrow frames, 60 spread what pictures show over weeks.
  tools: 2_907,
};

/** What of biome's configuration is looked at here. */
interface Biome {
  readonly linter: { readonly rules: { readonly complexity: Readonly<Record<string, unknown>> } };
}

const root = projectRoot();

interface SourceFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

function filesBelow(folder: string, ending: string): SourceFile[] {
  return pathsBelow(root, folder, ending).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Beside the rooms lie the two programs alone. */
const PROGRAMS = ['cli.ts', 'main.ts'];

const sources = [
  ...PROGRAMS.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  ...ROOMS.flatMap((room) => [...filesBelow(room, '.ts'), ...filesBelow(room, '.tsx')]),
];

/** What stands beside the program: it may import the program, and nothing of the program imports it. */
const BESIDE = ['bench', 'tests', 'tools'] as const;
const beside = BESIDE.flatMap((room) => [...filesBelow(room, '.ts'), ...filesBelow(room, '.tsx')]).filter(
  // A peer is a program of its own, with packages of its own.
  ({ path }) => !path.startsWith('bench/peers/') && !path.startsWith('bench/out/'),
);

/** Specifiers of every static import and re-export, of dynamic imports and of workers' `new URL(…, import.meta.url)`. */
function importsOf(text: string): string[] {
  const patterns = [
    /^\s*(?:import|export)\s[^'";]*?\bfrom\s*'([^']+)'/gm,
    /^\s*import\s*'([^']+)'/gm,
    /\bimport\(\s*'([^']+)'/g,
    /\bnew URL\(\s*'(\.{1,2}\/[^']+\.[jt]s)',\s*import\.meta\.url/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}

/** `gateway/console/keys.ts` → `gateway`; of a program at the root ''. */
function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** Rooms that a room may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  '': ROOMS,
  program: ROOMS,
  protocol: [],
  watch: [],
  machines: ['protocol'],
  assistant: ['protocol', 'watch'],
  storage: ['protocol', 'watch'],
  actors: ['machines', 'assistant', 'storage', 'protocol', 'watch'],
  gateway: ['actors', 'machines', 'storage', 'protocol', 'watch'],
  web: ['protocol'],
};

/** Folders of `web/`, and what they may import beside themselves. */
const WEB_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'web/client/': ['protocol/', 'types/'],
  'web/sdk/': ['web/client/', 'protocol/', 'types/'],
  'web/react/': ['web/sdk/', 'web/client/'],
  'web/widget/': ['web/sdk/'],
  'web/react-native/': ['web/sdk/', 'web/client/', 'protocol/'],
  'web/demo/': ['web/sdk/', 'web/client/', 'protocol/'],
  'web/console/': ['web/client/', 'web/sdk/', 'protocol/', 'machines/'],
};

/** Folders of the composition root that are programs of their own, and what they may import beside themselves. */
const PROGRAM_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'program/cli/': ['machines/', 'storage/', 'protocol/', 'program/replica/', 'program/config.ts'],
  'program/workers/': [],
};

/** Folders of `actors/` by floor, the lowest first: one imports from floors below, and from the root, which imports no folder. */
const FLOORS: readonly (readonly string[])[] = [
  ['people', 'billing', 'knowledge'],
  ['calls', 'uploads', 'configuration'],
  ['turns'],
  ['smoke', 'pairing', 'cluster', 'traces'],
  ['setup', 'cells'],
];

/** The folder of `actors/` that a file lies in, '' at its root, and the floor that it stands on. */
function floorOf(path: string): { readonly folder: string; readonly floor: number } {
  const [, folder = '', ...rest] = path.split('/');
  return rest.length === 0 ? { folder: '', floor: -1 } : { folder, floor: FLOORS.findIndex((folders) => folders.includes(folder)) };
}

/** Files that import each other in a circle, the shortest way around; undefined: there is none. */
function findCircle(importsOfFile: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of importsOfFile.get(path) ?? []) {
      const circle = visit(target, [...way, path]);
      if (circle !== undefined) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of importsOfFile.keys()) {
    const circle = visit(path, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** Libraries that one room (or two) hides from all others. */
const DRIVER_ROOMS: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['gateway'],
  ioredis: ['actors/cluster/bus'],
  msgpackr: ['actors/cluster/bus', 'actors/cluster/remote'],
  'better-sqlite3': ['storage'],
  'sqlite-vec': ['storage'],
  culori: ['protocol/appearance'],
  openai: ['assistant/models/openai'],
  nodemailer: ['actors/billing'],
  stripe: ['actors/billing'],
  undici: ['assistant'],
  'eventsource-parser': ['web/client'],
  xstate: ['machines'],
  '@xstate/store': ['actors', 'web/client', 'web/console', 'web/sdk'],
  preact: ['web/console', 'web/sdk', 'web/demo'],
  'preact-iso': ['web/console'],
  'markdown-it': ['web/sdk/prose'],
  react: ['web/react', 'web/react-native'],
};

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** Every import of these files, with relative ones resolved to a path below the project. */
function resolvedImports(files: readonly SourceFile[]) {
  return files.flatMap(({ path, text }) =>
    importsOf(text).map((specifier) => ({
      path,
      specifier,
      target: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
    })),
  );
}

const imports = resolvedImports(sources);
// A test's strings hold modules that it makes up.
const besideImports = resolvedImports(beside.filter(({ path }) => path !== 'tests/architecture.test.ts'));

describe('HOUSE-1, HOUSE-2: imports run one way', () => {
  test('the parser sees every form of import', () => {
    const text = [
      "import a from 'one';",
      "import type { B } from './two.ts';",
      'import {',
      '  type C,',
      '  d,',
      "} from '../three.ts';",
      "export { e } from 'four';",
      "export * from 'five';",
      "import 'six';",
      "const f = await import('seven');",
      "new Worker(new URL('./eight.js', import.meta.url));",
      "// imported from 'nowhere'",
    ].join('\n');
    const found = importsOf(text).sort();
    assert.deepEqual(found, ['one', './two.ts', '../three.ts', 'four', 'five', 'six', 'seven', './eight.js'].sort());
    assert.ok(imports.length > sources.length, 'the sources import more than one thing each on average');
  });

  test('at the top stand the rooms, and beside them the programs', () => {
    const others = [...BESIDE, 'deploy', 'docs', 'examples', 'types', 'dist', 'node_modules', 'data'];
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    const rooms = folders.map(({ name }) => name).filter((name) => !others.includes(name) && !name.startsWith('dist-'));
    assert.deepEqual(rooms.sort(), [...ROOMS].sort());
    const programs = readdirSync(root).filter((name) => name.endsWith('.ts'));
    assert.deepEqual(programs.sort(), PROGRAMS);
  });

  test('a room imports itself and the rooms below it, nothing else', () => {
    const wrong = imports.filter(({ path, target }) => {
      if (target === undefined) return false;
      const room = roomOf(path);
      const [program, allowed] =
        Object.entries({ ...PROGRAM_MAY_IMPORT, ...WEB_MAY_IMPORT }).find(([folder]) => path.startsWith(folder)) ?? [];
      if (program !== undefined) return ![program, ...(allowed ?? [])].some((folder) => target.startsWith(folder));
      return ![room, ...(MAY_IMPORT[room] ?? [])].includes(roomOf(target));
    });
    assert.deepEqual(
      wrong.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });

  test('a wire of models is a folder: it imports the transport and the interface, no other wire, and they import no wire', () => {
    const wires = ['anthropic', 'openai', 'offline'].map((wire) => `assistant/models/${wire}/`);
    const wrong = imports.filter(
      ({ path, target }) => path.startsWith('assistant/') && wires.some((wire) => target?.startsWith(wire) && !path.startsWith(wire)),
    );
    assert.deepEqual(
      wrong.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });

  test('the folders of actors stand on floors: each imports from those below, and the root from none', () => {
    const folders = new Set(sources.filter(({ path }) => roomOf(path) === 'actors').map(({ path }) => floorOf(path).folder));
    assert.deepEqual([...folders].sort(), ['', ...FLOORS.flat()].sort());
    const wrong = imports.filter(({ path, target }) => {
      if (roomOf(path) !== 'actors' || target === undefined || roomOf(target) !== 'actors') return false;
      const [from, to] = [floorOf(path), floorOf(target)];
      return from.folder !== to.folder && from.floor <= to.floor;
    });
    assert.deepEqual(
      wrong.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });

  test('no files import each other in a circle, not even types', () => {
    const importsOfFile = new Map<string, string[]>();
    for (const { path, specifier, target } of [...imports, ...besideImports]) {
      // A thread is started, not imported: it may import types of whoever starts it.
      if (target === undefined || specifier.endsWith('.js')) continue;
      importsOfFile.set(path, [...(importsOfFile.get(path) ?? []), target]);
    }
    assert.equal(findCircle(importsOfFile)?.join(' → '), undefined);
    assert.deepEqual(
      findCircle(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
      ['b', 'c', 'b'],
    );
  });

  test('a relative import names a file that exists, by its own ending', () => {
    const wrong = imports.filter(
      ({ target }) => target !== undefined && !existsSync(join(root, target)) && !existsSync(join(root, target.replace(/\.js$/, '.ts'))),
    );
    assert.deepEqual(
      wrong.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });

  for (const [library, rooms] of Object.entries(DRIVER_ROOMS)) {
    test(`${library} shows in ${rooms.join(' and ')} only`, () => {
      const uses = imports.filter(({ specifier }) => packageOf(specifier) === library);
      assert.ok(uses.length > 0, `nothing imports ${library}: the rule or the dependency is out of date`);
      assert.deepEqual(
        uses.filter(({ path }) => !rooms.some((room) => path.startsWith(`${room}/`))).map(({ path }) => path),
        [],
      );
    });
  }

  test('protocol does no I/O: it imports valibot, its JSON Schema, colour arithmetic and node:crypto for ids', () => {
    // Contrast and derived colours are part of the contract, and colour arithmetic is a library's business.
    const allowed = ['valibot', '@valibot/to-json-schema', 'culori/fn'];
    const wrong = imports.filter(
      ({ path, specifier, target }) =>
        roomOf(path) === 'protocol' &&
        target === undefined &&
        !allowed.includes(specifier) &&
        !(specifier === 'node:crypto' && path === 'protocol/ids.ts') &&
        // Which loads the colour arithmetic when it is needed.
        !(specifier === 'node:module' && path === 'protocol/appearance/culori.ts'),
    );
    assert.deepEqual(
      wrong.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });

  test('CLIENT-4: web/client runs anywhere: with all that it imports it knows no module of Node and no global but four', (t) => {
    const dir = temporaryDir(t);
    // What browsers, Node, workers and React Native all have; not the DOM, timers, the network or a process.
    writeFileSync(
      join(dir, 'everywhere.d.ts'),
      'declare function atob(data: string): string;\n' +
        'declare class TextDecoder { decode(bytes?: Uint8Array, options?: { stream?: boolean }): string }\n' +
        'declare class URL { static canParse(url: string): boolean }\n' +
        'interface AbortSignal { readonly aborted: boolean }\n' +
        'declare class AbortController { readonly signal: AbortSignal; abort(reason?: unknown): void }\n',
    );
    const compilerOptions = { types: [], lib: ['es2023'], noEmit: true, incremental: false, tsBuildInfoFile: null, rootDir: '/' };
    const include = [join(root, 'web/client'), 'everywhere.d.ts'];
    // What fills in the surroundings of a platform knows that platform.
    const exclude = [join(root, 'web/client/platform')];
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include, exclude }));
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', dir], { encoding: 'utf8' });
    assert.equal(stdout, '');
  });

  test('HOUSE-2: a start loads no library that only some installations use: those load it where they need it', () => {
    const texts = new Map(sources.map(({ path, text }) => [path, text]));
    const loaded = new Set(['main.ts']);
    for (const path of loaded) {
      for (const [, specifier = ''] of (texts.get(path) ?? '').matchAll(/^(?:import|export)\s(?!type\s)[^'";]*?\bfrom\s*'([^']+)'/gm))
        loaded.add(specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : packageOf(specifier));
    }
    const everywhere = ['better-sqlite3', 'program/compose.ts', 'storage/sqlite/database.ts'];
    assert.deepEqual(
      everywhere.filter((one) => !loaded.has(one)),
      [],
    );
    const some = ['age-encryption', 'ioredis', 'msgpackr', 'nodemailer', 'stripe'];
    assert.deepEqual(
      some.filter((one) => loaded.has(one)),
      [],
    );
  });

  test('every package that the sources import is a dependency of package.json', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    const used = imports.filter(({ specifier, target }) => target === undefined && !specifier.startsWith('node:'));
    // What apps bring along is named by the package that needs it.
    const peers = { 'web/react/': ['react'], 'web/react-native/': ['react', 'react-native'] };
    const isPeer = (path: string, name: string) =>
      Object.entries(peers).some(([room, names]) => path.startsWith(room) && names.includes(name));
    const undeclared = used.filter(
      ({ path, specifier }) => !Object.hasOwn(dependencies, packageOf(specifier)) && !isPeer(path, packageOf(specifier)),
    );
    assert.deepEqual(
      undeclared.map(({ path, specifier }) => `${path} imports ${specifier}`),
      [],
    );
  });
});

/** Files of tests that need time to pass, and what for. All others wait for what happens, or move a clock. */
const MAY_WAIT: Readonly<Record<string, string>> = {
  'tests/actors/cluster/nodes/members.test.ts': 'a process stands still: that is what is tested',
  'tests/assistant/knowledge/fetch-link.test.ts': 'a site takes its time for every hop',
  'tests/chaos/cards.ts': 'answers come at the time at which a card expires',
  'tests/chaos/dying-workers.ts': 'connections and kills come at a pace',
  'tests/chaos/kills.ts': 'kills come at a pace, and the state of a request is read every few milliseconds',
  'tests/chaos/latency.ts': 'what is measured begins when the turn before has left nothing to do',
  'tests/chaos/move-kills.ts': 'people talk at a pace, and a step that lasts a millisecond is caught',
  'tests/chaos/overload.ts': 'requests come at a pace',
  'tests/chaos/partition.ts': 'a cut lasts for as long as was drawn',
  'tests/chaos/redis-lost.ts': 'Redis is away for a given time',
  'tests/chaos/siege-attacks.ts': 'bytes come slowly, and readers stop for the time of the siege',
  'tests/chaos/siege-model.ts': 'the model writes at a pace',
  'tests/chaos/siege.ts': 'probes come at a pace, and an attack is followed by a rest in which its cost is still measured',
  'tests/chaos/slowness.ts': 'how busy the machine is is measured over a time',
  'tests/chaos/stopped-readers.chaos.ts': 'figures are read at a pace',
  'tests/chaos/writes.ts': 'the app’s backend takes its time, and a client tries again',
  'tests/fuzz/http.fuzz.ts': 'a connection that is left open is cut',
  'tests/support/chaos-load.ts': 'clients back off, and give up on a silent stream',
  'tests/support/cluster.ts': 'a start has a time limit',
  'tests/support/eventually.ts': 'the one wait for what tells nobody when it becomes true',
  'tests/support/hostile-proxy.ts': 'a proxy delays what it hands on',
  'tests/support/mortal.ts': 'the moment of a kill is drawn',
  'tests/support/paced-model.ts': 'the model writes at a pace',
  'tests/support/redis.ts': 'a server that starts is asked until it answers',
  'tests/support/service.ts': 'a start has a time limit',
  'tests/watch/side-program.ts': 'a thread is held until the test lets it go',
};

test('HOUSE-7: no module that tests import awaits at its top: files of tests beside theirs would be over before its tests are known', () => {
  const begun = /(?:^|\/)(?:main|cli)\.tsx?$|-(?:thread|program)\.ts$/;
  // Sample code is text.
  const awaiting = sources.filter(({ path, text }) => !begun.test(path) && AWAITS_AT_TOP.test(text.replaceAll(/`[^`]*`/g, '')));
  assert.deepEqual(
    awaiting.map(({ path }) => path),
    [],
  );
});

test('HOUSE-7: no test sleeps: it waits for what happens, by `eventually` at most, or moves a clock', () => {
  const timer = /(?<![.\w])setTimeout\(|\bsetTimeout\b[^;\n]* from 'node:timers|\bAtomics\.wait\(/;
  for (const wait of ["import { setTimeout as pause } from 'node:timers/promises';", 'Atomics.wait(cell, 0, 0, 100)'])
    assert.match(wait, timer);
  assert.doesNotMatch("socket.setTimeout(1); ['setTimeout']", timer);
  const waiting = filesBelow('tests', '.ts').filter(({ path, text }) => path !== 'tests/architecture.test.ts' && timer.test(text));
  assert.deepEqual(
    waiting.map(({ path }) => path),
    Object.keys(MAY_WAIT),
  );
});

describe('HOUSE-3, HOUSE-4: files stay small and finished', () => {
  test(`no source file is over ${LINES_MAX} lines`, () => {
    // Tests of one subject may be many.
    const long = [...sources, ...beside.filter(({ path }) => roomOf(path) !== 'tests')]
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX);
    assert.deepEqual(long, []);
  });

  test('each room keeps to its budget of lines', () => {
    const lines = new Map(Object.keys(BUDGET).map((room) => [room, 0]));
    for (const { path, text } of [...sources, ...beside]) {
      const room = roomOf(path);
      lines.set(room, (lines.get(room) ?? 0) + text.split('\n').length - 1);
    }
    const over = [...lines].flatMap(([room, count]) =>
      count <= (BUDGET[room] ?? 0) ? [] : [`${room || 'main.ts and cli.ts'}: ${count - (BUDGET[room] ?? 0)} lines over`],
    );
    assert.deepEqual(over, []);
  });

  test(`no function is over ${FUNCTION_LINES_MAX} lines`, () => {
    const rule = 'complexity/noExcessiveLinesPerFunction';
    const { complexity } = (JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Biome).linter.rules;
    assert.deepEqual(complexity.noExcessiveLinesPerFunction, { level: 'error', options: { maxLines: FUNCTION_LINES_MAX } });
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const { status, stderr } = spawnSync(process.execPath, [biome, 'lint', `--only=${rule}`, ...ROOMS, ...PROGRAMS], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  test('no file holds a note of unfinished work or a path of somebody’s machine', () => {
    // Spelt in pieces, so that this file passes its own rule.
    const words = [
      ['TO', 'DO'],
      ['FIX', 'ME'],
      ['XX', 'X'],
      ['HA', 'CK'],
    ].map((halves) => halves.join(''));
    const paths = [
      ['/ho', 'me/'],
      ['/Us', 'ers/'],
      ['/ro', 'ot/'],
      ['/wo', 'rk/'],
    ].map((halves) => halves.join(''));
    const forbidden = new RegExp(`\\b(?:${words.join('|')})\\b|(?<![\\w.*}-])(?:${paths.join('|')})`);
    const texts = [...sources, ...beside, ...filesBelow('docs', '.md')];
    const found = [...texts, { path: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') }].flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (forbidden.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
    assert.deepEqual(found, []);
  });

  test('no source file is a drawer for anything: utils, helpers, managers, common', () => {
    const wrong = sources.map(({ path }) => path).filter((path) => /\b(?:utils?|helpers?|managers?|common|misc)\b/.test(path));
    assert.deepEqual(wrong, []);
  });

  test('every source file opens with a comment that says what it owns', () => {
    assert.deepEqual(
      sources.filter(({ text }) => !/^(?:#!.*\n)?\/\*\*/.test(text)).map(({ path }) => path),
      [],
    );
  });
});
