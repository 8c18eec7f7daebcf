/** Owns how the offline model tells what it can do, and shows a component to somebody who asks to see one. */
import type { ToolDefinition } from '../model.ts';
import { SAMPLES } from './samples.ts';
import { enumerated, escapeMarkdown, spokenName } from './words.ts';

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

/** What can be asked for here, in sentences; '' when there is nothing. */
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

/** A sample of what can be called by that name: only of components that the client draws. */
function sampleOf({ name, kind, parameters }: ToolDefinition): Readonly<Record<string, unknown>> | undefined {
  if (kind !== 'component') return undefined;
  if (name !== 'screens') return SAMPLES[name];
  const { items } = (parameters.properties ?? {}) as { items?: { items?: { properties?: { route?: { enum?: readonly string[] } } } } };
  const route = items?.items?.properties?.route?.enum?.[0];
  return route === undefined ? undefined : { items: [{ route, title: 'A screen of this app' }] };
}

function sampled(tools: readonly ToolDefinition[]): string[] {
  return tools.filter((tool) => sampleOf(tool) !== undefined).map(({ name }) => name);
}

/** All that there is: documents, actions, and the components of this client. */
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
