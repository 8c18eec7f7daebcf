/** Every regular expression of the program: literals from the compiled files, constructed ones as they are made. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Node, parse } from 'acorn';
import { checkSync } from 'recheck';
import * as v from 'valibot';
import { isOfProgram } from '../tests/support/rooms.ts';

const PROGRAM = fileURLToPath(new URL('../', import.meta.url));

/** The compiled files of the program, relative to where they lie. */
function programFiles(): readonly string[] {
  return readdirSync(PROGRAM, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js') && isOfProgram(name));
}

export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** `protocol/ids.js:63`, in the compiled files. */
  readonly place: string;
}

interface ProgramExpressions {
  /** Each once, by `/source/flags`. */
  readonly expressions: ReadonlyMap<string, Expression>;
  /** Places of `new RegExp` that made none so far. */
  readonly unmade: ReadonlySet<string>;
}

type Tree = Node & { readonly [field: string]: unknown };

function isNode(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function visit(node: Tree, see: (node: Tree) => void): void {
  see(node);
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, see);
}

function isConstruction(node: Tree): boolean {
  const callee = node.callee as { name?: string } | undefined;
  return (node.type === 'NewExpression' || node.type === 'CallExpression') && callee?.name === 'RegExp';
}

/** The place within the program that calls, from the stack; undefined when that is a library. */
function callerInProgram(): string | undefined {
  const prepare = Error.prepareStackTrace;
  try {
    Error.prepareStackTrace = (_error, sites) => sites;
    // This function, the trap and then whoever constructs.
    const site = (new Error('place').stack as unknown as NodeJS.CallSite[])[2];
    const file = site?.getFileName() ?? '';
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    const place = path.startsWith(PROGRAM) ? path.slice(PROGRAM.length) : undefined;
    return place !== undefined && isOfProgram(place) ? `${place}:${site?.getLineNumber()}` : undefined;
  } finally {
    Error.prepareStackTrace = prepare;
  }
}

/**
 * Reads the compiled program and loads those of its files that construct expressions; `exercise` then calls what constructs them later.
 * Nothing of the program may be loaded before.
 */
export async function programExpressions(exercise: () => Promise<void>): Promise<ProgramExpressions> {
  const expressions = new Map<string, Expression>();
  const add = (source: string, flags: string, place: string) => expressions.set(`/${source}/${flags}`, { source, flags, place });
  const constructions = new Set<string>();
  for (const file of programFiles()) {
    const tree = parse(readFileSync(join(PROGRAM, file), 'utf8'), {
      ecmaVersion: 'latest',
      sourceType: 'module',
      locations: true,
    }) as Node as Tree;
    visit(tree, (node) => {
      const place = `${file}:${node.loc?.start.line}`;
      const regex = node.regex as { pattern: string; flags: string } | undefined;
      if (regex !== undefined) add(regex.pattern, regex.flags, place);
      if (isConstruction(node)) constructions.add(place);
    });
  }
  const unmade = new Set(constructions);
  const BuiltIn = globalThis.RegExp;
  globalThis.RegExp = new Proxy(BuiltIn, {
    construct(target, [pattern, flags]: [string | RegExp, string | undefined], newTarget) {
      const made = Reflect.construct(
        target,
        flags === undefined ? [pattern] : [pattern, flags],
        newTarget === globalThis.RegExp ? target : newTarget,
      ) as RegExp;
      const place = callerInProgram();
      if (place !== undefined) {
        add(made.source, made.flags, place);
        unmade.delete(place);
      }
      return made;
    },
  });
  try {
    for (const file of new Set([...constructions].map((place) => place.slice(0, place.lastIndexOf(':'))))) {
      await import(pathToFileURL(join(PROGRAM, file)).href);
    }
    await exercise();
  } finally {
    globalThis.RegExp = BuiltIn;
  }
  return { expressions, unmade };
}

/** The checker gives up on what has a large automaton; it is attacked instead. */
const AUTOMATON_TIMEOUT_MS = 500;

/** What the automaton of the expression says: that its time is linear, an attack if it is not, or nothing. */
export function judge({ source, flags }: Expression): 'linear' | 'undecided' | { readonly attack: string } {
  // The checker in JavaScript: nothing native runs, and nothing starts a Java machine.
  process.env.RECHECK_BACKEND = 'pure';
  const found = checkSync(source, flags, { checker: 'automaton', timeout: AUTOMATON_TIMEOUT_MS });
  if (found.status === 'unknown') return 'undecided';
  return found.status === 'safe' ? 'linear' : { attack: `${found.complexity.summary}, by ${found.attack.pattern}` };
}

/** The characters that belong to each class and escape. */
const OF_CLASSES = ['a', 'Z', 'ü', '0', ' ', '\t', '\n', '.', '-', '_', '/', '@', '<', '(', '\u0000'];
const PUMPS_MAX = 48;

/** Strings to repeat: characters and words of the expression, what its classes stand for, and pairs of these. */
export function pumpsOf(source: string): string[] {
  const words = source.match(/[a-z]{2,}/gi) ?? [];
  const literal = source.match(/[^\w\s\\^$*+?{}|]/gu) ?? [];
  const pieces = [...new Set([...literal, ...words.slice(0, 12), ...OF_CLASSES])];
  const pairs = pieces.flatMap((one, at) => [
    `${one}${pieces[(at * 7 + 3) % pieces.length]}`,
    `${pieces[(at * 5 + 1) % pieces.length]}${one}`,
  ]);
  return [...pieces, ...pairs].slice(0, PUMPS_MAX);
}

/** The longest time in ms of processor that the expression takes over `chars` of hostile text, and which text that was; none is tried after one that takes `enoughMs`. */
export function attack({ source, flags }: Expression, chars: number, enoughMs: number): { ms: number; pump: string } {
  const pattern = new RegExp(source, flags);
  const words = source.match(/[a-z]{2,}/gi) ?? [];
  let worst = { ms: 0, pump: '' };
  for (const pump of pumpsOf(source)) {
    // What may have to stand before, and an end that fits nothing.
    for (const begin of new Set(['', words[0] ?? ''])) {
      const text = `${begin}${pump.repeat(chars / pump.length)}\u0001`;
      const before = process.cpuUsage();
      pattern.lastIndex = 0;
      text.replace(pattern, '');
      const { user, system } = process.cpuUsage(before);
      const ms = (user + system) / 1_000;
      if (ms > worst.ms) worst = { ms, pump };
      if (ms > enoughMs) return worst;
    }
  }
  return worst;
}

/** Calls what constructs expressions only when it is called. */
export async function constructAll(): Promise<void> {
  const { fillArguments } = await import('../assistant/models/offline/arguments.ts');
  const { sentenceSpans } = await import('../assistant/knowledge/sentences.ts');
  const { publishedActionsBody } = await import('../protocol/setup/actions.ts');
  const { templateParams } = await import('../protocol/setup/action-rules.ts');
  fillArguments('the order id A-1', { properties: { order_id: { type: 'string' } }, required: ['order_id'] });
  sentenceSpans('One. Two.');
  templateParams('{{param.id}}');
  const needsKey = { kind: 'header', name: 'X-Key' };
  const body = { url_template: 'https://api.example.com/a', method: 'POST', body_template: '{"a":"{{param.id}}"}', needs_key: needsKey };
  const action = { external_key: 'a', name: 'a', description: 'a', risk: 'read', params: [], ...body };
  v.safeParse(publishedActionsBody.production, { items: [action, { ...action, needs_key: { kind: 'query', name: 'k' } }] });
}

/** What may be repeated against the program's expressions: the pumps of all that are written as literals. */
export function programPumps(): string[] {
  const pumps = new Set<string>();
  for (const file of programFiles()) {
    const tree = parse(readFileSync(join(PROGRAM, file), 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' }) as Node as Tree;
    visit(tree, ({ regex }) => {
      if (regex !== undefined) for (const pump of pumpsOf((regex as { pattern: string }).pattern)) pumps.add(pump);
    });
  }
  return [...pumps];
}
