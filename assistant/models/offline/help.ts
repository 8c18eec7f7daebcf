/** Owns how the offline model tells what it can do, and shows a component to somebody who asks to see one. */
import type { ToolDefinition } from '../model.ts';
import { fencesOf } from './fence.ts';
import { SAMPLES } from './samples.ts';
import { capitalised, enumerated, escapeMarkdown, spokenName } from './words.ts';

/** More would be a list that nobody reads. */
const OFFERED_ACTIONS_MAX = 8;
/** "Could you please tell me what I can ask you here": longer messages ask something else. */
const HELP_MAX_CHARS = 80;
const SHOW_MAX_CHARS = 120;

/** In the order in which they are tried; each has to be all that the message says. */
const HELP = [
  /^(?:please )?help(?: me)?(?: please)?$/,
  /^(?:and |so )?what (?:can|could|do|are) you(?: able to| actually| all)?(?: do| help(?: me)?(?: with)?)?(?: here| for me| now)?$/,
  /^how (?:can|could|do) you help(?: me)?$/,
  /^what (?:can|could|should|may) i (?:ask|do)(?: you)?(?: here| about)?$/,
  /^(?:what|which) (?:components|blocks) (?:can|could|do) you (?:show|draw|have)(?: me)?$/,
  /^(?:who|what) are you$/,
];

const SHOW =
  /^(?:please |can you |could you )*(?:show|draw|display|demo|demonstrate|render|give)(?: me| us)? (?:(?:a|an|the|some|your|sample|example|of|demo) )*(.+)$/;
/** Words that may stand behind a name: one at a time, because some names end with one. */
const AFTERWARDS = / (?:component|block|card|sample|example|demo|please|here|now)$/;

/** Lower case, one line, without marks at the ends: a phrase to compare. */
function phraseOf(question: string): string {
  return spokenName(
    question
      .replaceAll(/[?!.,;:"'`´’“”]+/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

export function asksForHelp(question: string): boolean {
  if (question.length > HELP_MAX_CHARS) return false;
  const phrase = phraseOf(question);
  return HELP.some((pattern) => pattern.test(phrase));
}

export function offer(tools: readonly ToolDefinition[], hasPassages: boolean): string {
  const actions = tools.filter((tool) => tool.kind === 'action');
  const names = actions.slice(0, OFFERED_ACTIONS_MAX).map((tool) => escapeMarkdown(spokenName(tool.name)));
  const more = actions.length > names.length ? [...names, 'more'] : names;
  const hasKnowledge = hasPassages || tools.some((tool) => tool.kind === 'knowledge');
  const sentences: string[] = [];
  if (hasKnowledge) sentences.push("I can answer questions from this app's own documents.");
  if (more.length > 0) sentences.push(`${hasKnowledge ? 'I can also' : 'I can'} help with: ${enumerated(more)}.`);
  return sentences.join(' ');
}

interface Route {
  readonly name: string;
  readonly title: string;
}

/** `{route: cart|orders, title, …}`, as a model is told what an item of `screens` holds. */
const ROUTE_NAMES = /^\{route: ([\w|-]{1,8000})/;

/** What the app says of a screen, in a line of JSON; undefined for a line that is none. */
function routeOfLine(line: string): Route | undefined {
  try {
    const { name, title } = JSON.parse(line) as { readonly name?: unknown; readonly title?: unknown };
    return typeof name === 'string' ? { name, title: typeof title === 'string' ? title : name } : undefined;
  } catch {
    return undefined;
  }
}

/** Screens of the turn, by the definition of the component that offers them: told one by one, and those beyond by name alone. */
function routesOf({ parameters }: ToolDefinition): readonly Route[] {
  const { items } = (parameters.properties ?? {}) as {
    readonly items?: { readonly description?: string; readonly items?: { readonly description?: string } };
  };
  const [fenced] = fencesOf(items?.description ?? '');
  const told = (fenced?.body ?? '').split('\n').flatMap((line) => routeOfLine(line) ?? []);
  const names = ROUTE_NAMES.exec(items?.items?.description ?? '')?.[1]?.split('|') ?? [];
  const others = names.filter((name) => !told.some((route) => route.name === name));
  return [...told, ...others.map((name) => ({ name, title: capitalised(spokenName(name)) }))];
}

/** A sample of what can be called by that name: only of components that the client draws. */
function sampleOf(tool: ToolDefinition): Readonly<Record<string, unknown>> | undefined {
  const { name, kind } = tool;
  if (kind !== 'component') return undefined;
  if (name !== 'screens') return SAMPLES[name];
  const [route] = routesOf(tool);
  return route === undefined ? undefined : { items: [{ route: route.name, title: route.title }] };
}

function sampled(tools: readonly ToolDefinition[]): string[] {
  return tools.filter((tool) => sampleOf(tool) !== undefined).map(({ name }) => name);
}

/** What leads to a screen, in a phrase that says nothing else. */
const OPEN = /^(?:please |can you |could you )*(?:open|go to|take me to|bring me to)(?: (?:the|my|a|screen|page))* (.+)$/;

/** The screen of the app that the message wants to be opened, as a body of `screens`; undefined when it asks for anything else. */
export function askedScreen(question: string, tools: readonly ToolDefinition[]): Sample | undefined {
  if (question.length > SHOW_MAX_CHARS) return undefined;
  const wanted = OPEN.exec(phraseOf(question))?.[1]?.replace(/ (?:screen|page|please|now)$/, '');
  const tool = wanted === undefined ? undefined : tools.find(({ kind, name }) => kind === 'component' && name === 'screens');
  const route =
    tool === undefined ? undefined : routesOf(tool).find(({ name, title }) => spokenName(name) === wanted || phraseOf(title) === wanted);
  return route === undefined ? undefined : { name: 'screens', body: { items: [{ route: route.name, title: route.title }] } };
}

export function helpText(tools: readonly ToolDefinition[], hasPassages: boolean): string {
  const names = sampled(tools);
  const components =
    names.length === 0
      ? ''
      : `Ask me to show one of my components, as in "show me ${spokenName(names[0] ?? '')}": ${enumerated(names.map((name) => `\`${name}\``))}.`;
  const offered = offer(tools, hasPassages);
  const parts = [offered === '' ? 'There is nothing here yet that I could answer from.' : offered, components];
  return parts.filter((part) => part !== '').join('\n\n');
}

export interface Sample {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The component that the message asks to see, and nothing else; undefined when it asks for anything else. */
export function askedSample(question: string, tools: readonly ToolDefinition[]): Sample | undefined {
  if (question.length > SHOW_MAX_CHARS) return undefined;
  let wanted = SHOW.exec(phraseOf(question))?.[1];
  const isNamed = ({ kind, name }: ToolDefinition) =>
    kind === 'component' && [spokenName(name), `${spokenName(name)}s`, spokenName(name).replace(/s$/, '')].includes(wanted ?? '');
  while (wanted !== undefined && !tools.some(isNamed)) wanted = AFTERWARDS.test(wanted) ? wanted.replace(AFTERWARDS, '') : undefined;
  const tool = tools.find(isNamed);
  const body = tool === undefined ? undefined : sampleOf(tool);
  return tool === undefined || body === undefined ? undefined : { name: tool.name, body };
}
