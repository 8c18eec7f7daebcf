/** Owns whether the offline model calls an action: by the words a message shares with it, and only with every value at hand. */
import { contentStems, stem } from '../../knowledge/terms.ts';
import type { ToolDefinition } from '../model.ts';
import { fillArguments, type ParamSchema } from './arguments.ts';
import { spokenName } from './words.ts';

export interface ActionMatch {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What an action is called and about, in stems; made once for a definition. */
interface Vocabulary {
  readonly name: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly about: ReadonlySet<string>;
}

/** A call needs this much evidence: two words of the name, or one and a value that fits, or one and two of the description. */
const SCORE_MIN = 4;
/** Half of what the message says must be about the action: "what is the return policy for orders" is not `list_orders`. */
const COVERAGE_MIN = 0.5;
/** A long description must not make its action match everything. */
const DESCRIPTION_HITS_MAX = 2;

/** Verbs that most names of reading actions begin with: they tell no two actions apart. */
const COMMON_VERBS = new Set(
  ['get', 'list', 'show', 'find', 'fetch', 'search', 'look', 'lookup', 'check', 'view', 'read', 'see', 'display', 'load', 'open', 'up'].map(
    stem,
  ),
);
/** A question about how something is done asks for an explanation, not to do it. */
const ASKS_HOW =
  /^\s*(?:how (?:do|does|can|could|should|would|to)\b|why\b|can (?:i|we|one)\b|is it possible\b|what (?:happens|if|does)\b|what(?:'s| is) an? )/i;

const vocabularies = new WeakMap<ToolDefinition, Vocabulary>();

function vocabularyOf(tool: ToolDefinition): Vocabulary {
  const known = vocabularies.get(tool);
  if (known !== undefined) return known;
  const words = spokenName(tool.name).split(' ').map(stem);
  const telling = words.filter((word) => !COMMON_VERBS.has(word));
  const properties = (tool.parameters.properties ?? {}) as Readonly<Record<string, ParamSchema>>;
  const params = Object.entries(properties).map(([name, schema]) => `${spokenName(name)} ${String(schema.description ?? '')}`);
  const vocabulary: Vocabulary = {
    name: new Set(telling.length > 0 ? telling : words),
    verbs: new Set(words),
    about: new Set([...contentStems(tool.description), ...contentStems(params.join(' '))]),
  };
  vocabularies.set(tool, vocabulary);
  return vocabulary;
}

interface Candidate extends ActionMatch {
  readonly score: number;
  readonly coverage: number;
}

function judge(message: string, stems: readonly string[], tool: ToolDefinition): Candidate | undefined {
  const words = vocabularyOf(tool);
  const nameHits = stems.filter((word) => words.name.has(word)).length;
  if (nameHits === 0) return undefined;
  const filled = fillArguments(message, tool.parameters);
  if (filled === undefined) return undefined;
  if (filled.tokenCount === 0 && ASKS_HOW.test(message)) return undefined;
  const values = new Set(contentStems(filled.usedTexts.join(' ')));
  const rest = stems.filter((word) => !COMMON_VERBS.has(word) || words.name.has(word));
  const explained = rest.filter((word) => words.verbs.has(word) || words.about.has(word) || values.has(word)).length;
  const aboutHits = stems.filter((word) => words.about.has(word) && !words.verbs.has(word) && !values.has(word)).length;
  const named = nameHits === words.name.size ? 2 : 0;
  const valueHits = filled.usedTexts.length - filled.tokenCount;
  return {
    name: tool.name,
    args: filled.args,
    score: 2 * nameHits + named + Math.min(aboutHits, DESCRIPTION_HITS_MAX) + 2 * Math.min(filled.tokenCount, 2) + Math.min(valueHits, 2),
    coverage: rest.length === 0 ? 0 : explained / rest.length,
  };
}

/** Arguments with sorted keys, to compare calls by. */
export function callKey(name: string, args: Readonly<Record<string, unknown>>): string {
  return `${name} ${JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

/** Undefined when none is meant clearly or a required parameter is missing. `done` holds `callKey`s that are not made again. */
export function matchAction(message: string, tools: readonly ToolDefinition[], done: ReadonlySet<string>): ActionMatch | undefined {
  const stems = contentStems(message);
  let best: Candidate | undefined;
  for (const tool of tools) {
    if (tool.kind !== 'action') continue;
    const candidate = judge(message, stems, tool);
    if (candidate === undefined || candidate.score < SCORE_MIN || candidate.coverage < COVERAGE_MIN) continue;
    if (done.has(callKey(candidate.name, candidate.args))) continue;
    // The earlier of two equals, as the app listed them.
    const isBetter =
      best === undefined || candidate.score > best.score || (candidate.score === best.score && candidate.coverage > best.coverage);
    if (isBetter) best = candidate;
  }
  return best === undefined ? undefined : { name: best.name, args: best.args };
}

/** One field, as a submission is told to a model. A longer text goes on below its line, and only the first counts. */
const FIELD = /^- ([\w.-]{1,64}): (.*)$/;
/** A form has twelve fields, of which one may be a text of many lines. */
const LINES_MAX = 200;

/** Values by field name; undefined for a message that is no form. */
function valuesOf(message: string): ReadonlyMap<string, string> | undefined {
  const lines = message.split('\n', LINES_MAX);
  if (!FIELD.test(lines[0] ?? '')) return undefined;
  return new Map(lines.flatMap((line) => (FIELD.exec(line) === null ? [] : [FIELD.exec(line)?.slice(1, 3) as [string, string]])));
}

/** What was filled in, as the parameter takes it; undefined when it does not. */
function argumentOf(text: string, { type, enum: allowed }: ParamSchema): unknown {
  if (Array.isArray(allowed)) return allowed.find((value) => String(value) === text);
  if (type === 'string') return text === '' ? undefined : text;
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  if (type === 'array') return text === '' ? undefined : text.split(', ');
  const number = Number(text);
  return (type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(number) ? number : undefined;
}

/** The action that takes most of the form's fields, at least half of them, and all that it needs from them; undefined when the message is no form, or none does. */
export function matchSubmission(message: string, tools: readonly ToolDefinition[]): ActionMatch | undefined {
  const values = valuesOf(message);
  if (values === undefined) return undefined;
  let best: ActionMatch | undefined;
  for (const { kind, name, parameters } of tools) {
    if (kind !== 'action') continue;
    const { properties = {}, required = [] } = parameters as {
      readonly properties?: Readonly<Record<string, ParamSchema>>;
      readonly required?: readonly string[];
    };
    const args = Object.fromEntries(
      Object.entries(properties).flatMap(([param, schema]) => {
        const value = values.has(param) ? argumentOf(values.get(param) ?? '', schema) : undefined;
        return value === undefined ? [] : [[param, value]];
      }),
    );
    if (!required.every((param) => Object.hasOwn(args, param)) || 2 * Object.keys(args).length < values.size) continue;
    if (Object.keys(args).length > Object.keys(best?.args ?? {}).length) best = { name, args };
  }
  return best;
}
