/** The specification as tests read it: the rules of docs/specification/, the titles of tests, and who cites which rule. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow as projectFilesBelow } from '../tests/support/files-below.ts';
import { projectRoot } from '../tests/support/project-root.ts';

const root = projectRoot();
const CHAPTERS = 'docs/specification';

export interface Rule {
  /** `CHAT-7`. */
  readonly id: string;
  readonly text: string;
}

export interface Chapter {
  /** File name below docs/specification/. */
  readonly name: string;
  readonly title: string;
  readonly rules: readonly Rule[];
}

export interface TitledTest {
  /** Path below tests/. */
  readonly file: string;
  /** As written, a generated title with its `${…}`. */
  readonly title: string;
  /** Rules that the title begins with. */
  readonly ids: readonly string[];
  /** How far its line is indented: the tests of a group stand further in than the group. */
  readonly column: number;
}

export interface Line {
  /** `gateway/route.ts:12`. */
  readonly place: string;
  readonly text: string;
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Paths of the files below `folder` that end in `ending`, relative to the project, sorted. */
function filesBelow(folder: string, ending: string): string[] {
  return projectFilesBelow(root, folder, ending);
}

/** The rules of a page. A rule goes on over the lines that are indented below it. */
export function rulesOf(page: string): Rule[] {
  return Array.from(page.matchAll(/^- \*\*([A-Z]+-\d+)\*\* (.+(?:\n {2,}.+)*)/gm), ([, id = '', text = '']) => ({
    id,
    text: text.replaceAll(/\s+/g, ' '),
  }));
}

export function readChapters(): Chapter[] {
  return filesBelow(CHAPTERS, '.md')
    .map((path) => path.slice(CHAPTERS.length + 1))
    .filter((name) => name !== 'README.md')
    .map((name) => {
      const page = read(`${CHAPTERS}/${name}`);
      return { name, title: /^# (.+)$/m.exec(page)?.[1] ?? name, rules: rulesOf(page) };
    });
}

/** `CHAT-7, STREAM-2: a turn …` names two rules. */
export function idsOfTitle(title: string): string[] {
  return /^((?:[A-Z]+-\d+)(?:, [A-Z]+-\d+)*):/.exec(title)?.[1]?.split(', ') ?? [];
}

const TITLE = /^( *)(?:await )?(?:t\.)?(?:test|it|describe)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm;

/** Sources are read rather than run: titles stand there. */
export function readTests(): TitledTest[] {
  return filesBelow('tests', '.ts').flatMap((path) =>
    Array.from(read(path).matchAll(TITLE), ([, indent = '', single, double, template]) => {
      const title = (single ?? double ?? template ?? '').replaceAll(/\\(['"`])/g, '$1');
      return { file: path.slice('tests/'.length), title, ids: idsOfTitle(title), column: indent.length };
    }),
  );
}

/** Tests that name no rule: neither themselves, nor by the group they stand in, nor, being a group, by each of their own. */
export function unnamedTests(tests: readonly TitledTest[]): TitledTest[] {
  const named = ({ ids }: TitledTest) => ids.length > 0;
  return tests.filter((each, index) => {
    if (named(each)) return false;
    const before = tests.slice(0, index).filter(({ file }) => file === each.file);
    // A test in a loop stands further in than its neighbours, so look for the group beyond them.
    const outer = before.reduceRight<TitledTest[]>(
      (found, one) => (one.column < (found.at(-1) ?? each).column ? [...found, one] : found),
      [],
    );
    if (outer.length > 0) return !outer.some(named);
    const after = tests.slice(index + 1).filter(({ file }) => file === each.file);
    const end = after.findIndex(({ column }) => column <= each.column);
    const own = after.slice(0, end === -1 ? after.length : end);
    return own.length === 0 || !own.every(named);
  });
}

/** The proof itself writes of citations, and the page of conformance repeats titles. */
const NOT_READ = ['tests/specification.test.ts', 'tests/support/specification.ts', 'docs/conformance.md'];

/** Every line of code, tests and documents that may cite a rule. */
export function readLines(folders: readonly string[]): Line[] {
  const atRoot = readdirSync(root).filter((name) => /\.(?:ts|md)$/.test(name));
  return [...atRoot, ...folders.flatMap((folder) => [...filesBelow(folder, '.ts'), ...filesBelow(folder, '.md')])]
    .filter((path) => !NOT_READ.includes(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .map((text, index) => ({ place: `${path}:${index + 1}`, text })),
    );
}
