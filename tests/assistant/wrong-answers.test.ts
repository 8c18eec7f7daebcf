/** Calls of components as models write them, right and wrong in over forty ways, through the block assembler: taken, mended, asked for again, or told as words. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BlockAssembler } from '../../assistant/block-assembler.ts';
import { answersOf } from '../../bench/shown/live.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import type { Routes } from '../../protocol/catalog/component.ts';
import { isObject } from '../../protocol/schema/bounded.ts';
import type { Detail } from '../../protocol/schema/issues.ts';
import { MODEL_EXAMPLES } from '../protocol/catalog/examples.ts';
import { projectRoot } from '../support/project-root.ts';

type Args = Readonly<Record<string, unknown>>;

const recorded = answersOf(readFileSync(join(projectRoot(), 'bench/shown/answers.jsonl'), 'utf8'));
const isOffered = (name: string) => CATALOG.get(name)?.offered === true;

/** Good calls: those of the recorded answers, and the examples of each component. */
const CALLS: readonly (readonly [name: string, args: Args])[] = [
  ...[...recorded.values()].flat().flatMap(({ calls = [] }) => calls as readonly (readonly [string, Args])[]),
  ...Object.entries(MODEL_EXAMPLES).flatMap(([name, examples]) => examples.map((args) => [name, args] as const)),
].filter(([name]) => isOffered(name));

/** `args` with each member of each object made by `member`. */
function deep(value: unknown, member: (field: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => deep(item, member));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, member(field, deep(each, member))]));
}

const fieldsOf = (name: string) => Object.keys((CATALOG.get(name)?.parameters.properties ?? {}) as object);
const requiredOf = (name: string) => (CATALOG.get(name)?.parameters.required ?? []) as readonly string[];
const absent = (name: string, args: Args, value: unknown) =>
  Object.fromEntries(fieldsOf(name).flatMap((field) => (field in args || requiredOf(name).includes(field) ? [] : [[field, value]])));
const only = (type: string, made: (value: never) => unknown) => (args: Args) =>
  JSON.stringify(deep(args, (_, value) => (typeof value === type ? made(value as never) : value)));
const at = (fields: RegExp, made: (value: string) => unknown) => (args: Args) =>
  JSON.stringify(deep(args, (field, value) => (fields.test(field) && typeof value === 'string' ? made(value) : value)));
const json = (args: Args) => JSON.stringify(args);
const listOf = (args: Args) => Object.entries(args).find(([, value]) => Array.isArray(value)) as [string, unknown[]] | undefined;
const with_ = (more: (args: Args, name: string) => Args) => (args: Args, name: string) => json({ ...args, ...more(args, name) });

const WORDS = /^(?:tone|kind|state|layout|style|display|format|mode)$/;
const TIMES = /^(?:at|start|end|from|until|valid_from|valid_until)$/;

type Way = (args: Args, name: string) => string;
/** What can only mean the same. */
const SAME: Readonly<Record<string, Way>> = {
  'as it is': json,
  'on many lines': (args) => JSON.stringify(args, undefined, 2),
  'null for what is left out': with_((args, name) => absent(name, args, null)),
  'an empty text for what is left out': with_((args, name) => absent(name, args, '')),
  'a field without a value': with_(() => ({ note: null })),
  'its own type': with_((_, name) => ({ type: name })),
  'its own component': with_((_, name) => ({ component: name })),
  'its own block_type': with_((_, name) => ({ block_type: name })),
  'within body': (body) => json({ body }),
  'within arguments, as text': (args) => json({ arguments: json(args) }),
  'within parameters': (parameters) => json({ parameters }),
  'within input': (input) => json({ input }),
  'within props': (props) => json({ props }),
  // `code` has a field of its name, which is the text.
  'within its name': (args, name) => json(fieldsOf(name).includes(name) ? args : { [name]: args }),
  'a list as text': with_((args) =>
    Object.fromEntries([listOf(args)].flatMap((list) => (list ? [[list[0], JSON.stringify(list[1])]] : []))),
  ),
  'words in capitals': at(WORDS, (word) => word.toUpperCase()),
  'words with blanks': at(WORDS, (word) => word.replaceAll('_', ' ')),
  'times with a blank': at(TIMES, (time) => time.replace('T', ' ')),
  'currencies in small letters': at(/^currency$/, (code) => code.toLowerCase()),
};
/** What is never taken: a fact would be lost, or nothing can be told. */
const REFUSED: Readonly<Record<string, Way>> = {
  'a fact in an unknown field': with_(() => ({ remark: 'Only today' })),
  'nothing at all': () => '',
  'an empty object': () => '{}',
  'a list': () => '[]',
  'a word': () => '"done"',
  'cut off': (args) => json(args).slice(0, -2),
  'cut in half': (args) => json(args).slice(0, Math.ceil(json(args).length / 2)),
  'quotes of the wrong kind': (args) => json(args).replaceAll('"', "'"),
  'quotes of print': (args) => json(args).replaceAll('"', '”'),
  'a required field left out': (args, name) =>
    json(Object.fromEntries(Object.entries(args).filter(([field]) => field !== requiredOf(name)[0]))),
  'texts without an end': only('string', (text: string) => text + 'x'.repeat(10_000)),
};
/** What is one or the other, by component. */
const EITHER: Readonly<Record<string, Way>> = {
  'a comma too many': (args) => json(args).replace(/}$/, ',}'),
  'in a fence': (args) => `\`\`\`json\n${json(args)}\n\`\`\``,
  'written twice': (args) => json(args) + json(args),
  'with a word before it': (args) => `Here it is: ${json(args)}`,
  'as text': (args) => JSON.stringify(json(args)),
  'within a list': (args) => json([args] as unknown as Args),
  'numbers as text': only('number', String),
  'flags as text': only('boolean', String),
  'amounts as numbers': at(/^amount$/, Number),
  'ids as numbers': at(/^id$/, (id) => id.length),
  'ids left out': (args) => JSON.stringify(args, (field, value) => (field === 'id' ? undefined : value)),
  'times without an offset': at(TIMES, (time) => time.replace(/(?:Z|[+-]\d\d:\d\d)$/, '')),
  'days for times': at(TIMES, (time) => time.slice(0, 10)),
  'other words': at(WORDS, () => 'celebratory'),
  'addresses without a scheme': at(/^(?:url|target|value)$/, (url) => url.replace('https://', '')),
  'addresses of scripts': at(/^(?:url|target|value)$/, () => 'javascript:alert(1)'),
  'HTML in texts': only('string', (text: string) => `<b onclick="x()">${text}</b>`),
  'far too many items': with_((args) =>
    Object.fromEntries([listOf(args)].flatMap((list) => (list ? [[list[0], Array(200).fill(list[1][0])]] : []))),
  ),
  'one item for a list': with_((args) => Object.fromEntries([listOf(args)].flatMap((list) => (list ? [[list[0], list[1][0]]] : [])))),
  'items by name': with_((args) => Object.fromEntries([listOf(args)].flatMap((list) => (list ? [[list[0], { ...list[1] }]] : [])))),
};
const WAYS = { ...SAME, ...REFUSED, ...EITHER };

const SCREENS = ['orders', 'cart', 'settings', 'order', 'shop', 'product'];
const PARAMS = Object.entries({ id: 'string', page: 'number', open: 'boolean', sort: 'string' } as const);
const params = Object.fromEntries(PARAMS.map(([name, type]) => [name, { type, required: false }]));
const ROUTES: Routes = new Map(SCREENS.map((name) => [name, { params }]));

/** What becomes of a body that is written so each time, and of one that is right at the second. */
function became(name: string, ...written: readonly string[]) {
  const completed: Block[] = [];
  const assembler = new BlockAssembler(
    { components: new Set(['text', name]), routes: ROUTES, actionKinds: new Set(), mintBlockId: () => 'blk' },
    { started: () => {}, delta: () => {}, completed: (block) => completed.push(block) },
  );
  let details: readonly Detail[] = [];
  for (const [round, text] of written.entries()) {
    const [repair] = assembler.finishRound([{ id: `call_${round}`, name, arguments: text }]);
    if (repair === undefined) break;
    details = repair.details;
  }
  assembler.finish();
  assert.equal(completed.length, 1, 'one block, whatever was written');
  return { block: completed[0] as Block, details };
}

/** The rules that hold for whatever is written. */
function held(name: string, args: Args, written: string): Block {
  const { block, details } = became(name, written, written);
  if (block.block_type === name) assert.deepEqual(details, []);
  else {
    assert.ok(details.length > 0 && details.every(({ message }) => message !== ''), 'what is wrong is told');
    const words = String(block.body.md);
    assert.ok(words.trim() !== '');
    // A program's own text is no JSON of ours.
    if (name !== 'code') assert.doesNotMatch(words, /[{[]\s*["'”]|["'”]\s*:/, 'people read no JSON');
    assert.equal(became(name, written, json(args)).block.block_type, name, 'what is written right then is shown');
  }
  if (name !== 'code') assert.doesNotMatch(String(block.body.md ?? ''), /<b onclick/);
  return block;
}

describe('BLOCK-27, MODEL-11, MODEL-31: answers of models as they come', () => {
  test('are over sixty good calls, each component among them, and wrong in over forty ways', () => {
    assert.ok(CALLS.length > 60 && Object.keys(WAYS).length > 40);
    for (const name of CATALOG.keys()) assert.equal(!isOffered(name) || CALLS.some(([each]) => each === name), true, name);
  });

  for (const [way, write] of Object.entries(WAYS)) {
    test(way, () => {
      for (const [name, args] of CALLS) {
        const block = held(name, args, write(args, name));
        const right = became(name, json(args)).block;
        const where = `${name} ${JSON.stringify(args).slice(0, 200)}`;
        if (way in SAME) assert.deepEqual(block.body, right.body, where);
        if (way in REFUSED) assert.equal(block.block_type, 'text', where);
      }
    });
  }

  const way = fc.constantFrom(...Object.keys(WAYS));
  const written = (name: string, args: Args, one: string, other: string) => {
    const text = WAYS[one]?.(args, name) ?? '';
    try {
      const parsed: unknown = JSON.parse(text);
      return isObject(parsed) ? (WAYS[other]?.(parsed, name) ?? '') : text;
    } catch {
      // It is no JSON already.
      return text;
    }
  };

  test('two slips at once', () => {
    const two = fc.property(fc.constantFrom(...CALLS), way, way, ([name, args], one, other) => {
      fc.pre(!one.endsWith('as text') && !other.endsWith('as text'));
      held(name, args, written(name, args, one, other));
    });
    fc.assert(two, { numRuns: 300 });
  });

  test('a slip, and cut anywhere', () => {
    const cut = fc.property(fc.constantFrom(...CALLS), way, fc.double({ min: 0.2, max: 1, noNaN: true }), ([name, args], one, share) => {
      fc.pre(!one.endsWith('as text'));
      const text = written(name, args, one, 'as it is');
      held(name, args, text.slice(0, Math.ceil(text.length * share)));
    });
    fc.assert(cut, { numRuns: 300 });
  });
});
