/** What a smoke run asks (SMOKE-7). Pure, so that a run can be repeated after a change. */

import { type ParamValue, valueProblem } from '../../protocol/action-params.ts';
import { SMOKE_QUESTIONS_MAX, SMOKE_QUESTIONS_MIN } from '../../protocol/limits.ts';
import type { ActionParam, ManifestAction } from '../../protocol/runtime/manifest.ts';
import { withoutEnd } from '../../protocol/schema/text.ts';
import type { QuestionOrigin } from '../../storage/setup/smoke-runs.ts';

export interface SmokeQuestion {
  readonly text: string;
  readonly from: QuestionOrigin;
}

export interface AskableConfiguration {
  readonly suggestions: readonly string[];
  readonly titles: readonly string[];
  /** From the latest manifest, and the HTTP actions that are switched on. */
  readonly actions: readonly ManifestAction[];
  /** Subtags of the persona's languages, the one that it speaks first; absent: English. */
  readonly languages?: readonly string[];
}

/** The questions of a full run: what people are offered first, what is known, and one thing to look up. */
const SUGGESTIONS_FIRST = 2;
const TITLES_FIRST = 2;
const ACTIONS_FIRST = 1;

interface Wording {
  /** Ways to ask about a title: with few words beside it, so that the title decides what is found. */
  readonly about: readonly ((title: string) => string)[];
  readonly please: (action: string, values: readonly string[]) => string;
  /** Asked when there is too little to ask about: the answers show that the assistant has nothing to go by. */
  readonly general: readonly string[];
}

const listed = (values: readonly string[]) => (values.length === 0 ? '' : ` (${values.join(', ')})`);

const ENGLISH: Wording = {
  about: [
    (title) => `What should I know about ${title}?`,
    (title) => `Can you tell me about ${title}?`,
    (title) => `What does “${title}” say?`,
  ],
  please: (action, values) => `Please ${action}${values.length === 0 ? '' : ` for ${values.join(' and ')}`}.`,
  general: ['What can you help me with?', 'What is this app about?', 'Where do I find more about this app?'],
};

/** By language subtag: the languages that most apps speak. In any other a title is asked as it stands, which every language reads as a question. */
const WORDINGS: Readonly<Record<string, Wording>> = {
  en: ENGLISH,
  de: {
    about: [
      (title) => `Was sollte ich über ${title} wissen?`,
      (title) => `Was weißt du zu ${title}?`,
      (title) => `Was steht in „${title}“?`,
    ],
    please: (action, values) => `Bitte: ${action}${listed(values)}.`,
    general: ['Wobei kannst du mir helfen?', 'Worum geht es in dieser App?', 'Wo finde ich mehr über diese App?'],
  },
  fr: {
    about: [(title) => `Que dois-je savoir sur ${title} ?`, (title) => `Que sais-tu de ${title} ?`, (title) => `Que dit « ${title} » ?`],
    please: (action, values) => `S’il te plaît : ${action}${listed(values)}.`,
    general: ['En quoi peux-tu m’aider ?', 'De quoi parle cette application ?', 'Où en apprendre plus sur cette application ?'],
  },
  es: {
    about: [(title) => `¿Qué debo saber sobre ${title}?`, (title) => `¿Qué sabes de ${title}?`, (title) => `¿Qué dice «${title}»?`],
    please: (action, values) => `Por favor: ${action}${listed(values)}.`,
    general: ['¿En qué puedes ayudarme?', '¿De qué trata esta aplicación?', '¿Dónde encuentro más sobre esta aplicación?'],
  },
  it: {
    about: [(title) => `Che cosa devo sapere su ${title}?`, (title) => `Che cosa sai di ${title}?`, (title) => `Che cosa dice «${title}»?`],
    please: (action, values) => `Per favore: ${action}${listed(values)}.`,
    general: ['In che cosa puoi aiutarmi?', 'Di che cosa tratta questa app?', 'Dove trovo altro su questa app?'],
  },
  pt: {
    about: [(title) => `O que devo saber sobre ${title}?`, (title) => `O que sabes de ${title}?`, (title) => `O que diz “${title}”?`],
    please: (action, values) => `Por favor: ${action}${listed(values)}.`,
    general: ['Em que me podes ajudar?', 'De que trata esta aplicação?', 'Onde encontro mais sobre esta aplicação?'],
  },
  nl: {
    about: [
      (title) => `Wat moet ik weten over ${title}?`,
      (title) => `Wat weet je van ${title}?`,
      (title) => `Wat staat er in “${title}”?`,
    ],
    please: (action, values) => `Alsjeblieft: ${action}${listed(values)}.`,
    general: ['Waarmee kun je me helpen?', 'Waar gaat deze app over?', 'Waar vind ik meer over deze app?'],
  },
};

const ANY: Wording = { ...ENGLISH, about: [(title) => `${title}?`], please: (action, values) => `${action}${listed(values)}?` };

function wordingOf(languages: readonly string[] = []): Wording {
  const [first] = languages;
  return first === undefined ? ENGLISH : (WORDINGS[first.toLowerCase().split('-')[0] ?? ''] ?? ANY);
}

/** A title that is a question asks for itself. */
const QUESTION = /[?？؟]$|^¿/u;

/** Questions that differ in capitals and marks alone are one. */
function sameAs({ text }: SmokeQuestion): string {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu);
  return words === null ? text : words.join(' ');
}

/** "such as A-1042", "e.g. New York": what the description of a build's parameter gives as an example, where it declares none. */
const GIVES_EXAMPLE = /(?:\bsuch as|\be\.g\.,?|\bfor example,?|\bexample:|\blike)\s+/iu;
const EXAMPLE_MAX_CHARS = 60;
/** What is taken as the example: all that is in quotes; else up to four words that each begin with a capital; else one word. */
const QUOTED = /^(?:"([^"\n]+)"|“([^”\n]+)”|'([^'\n]+)'|`([^`\n]+)`)/u;
const NAMED = /^\p{Lu}[\p{L}\p{N}@._+:/'’-]*(?: \p{Lu}[\p{L}\p{N}@._+:/'’-]*){0,3}/u;
const WORD = /^[\p{L}\p{N}][\p{L}\p{N}@._+:/-]*/u;
/** What a parameter is about by its name, and an example of it. */
const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/e-?mail|recipient/, 'ada@example.com'],
  [/phone|mobile|\btel\b/, '+1 202 555 0143'],
  [/\b(?:date|day|since|until|from|to|on|at)$/, '2026-01-15'],
  [/\b(?:url|link|address)$/, 'https://example.com'],
  [/\b(?:city|place|location|town)\b/, 'Berlin'],
  [/\bcountry\b/, 'Germany'],
  [/\b(?:id|ids|number|no|nr|code|key|ref|reference|sku|order|ticket|tracking|booking)$/, 'A-1042'],
];

function spoken(name: string): string {
  return name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/_+/g, ' ')
    .trim()
    .toLowerCase();
}

function givenExample({ description = '' }: ActionParam): string | undefined {
  const gives = GIVES_EXAMPLE.exec(description);
  if (gives === null) return undefined;
  const rest = description.slice(gives.index + gives[0].length).slice(0, EXAMPLE_MAX_CHARS);
  const quoted = QUOTED.exec(rest)
    ?.slice(1)
    .find((text) => text !== undefined);
  const written = quoted ?? NAMED.exec(rest)?.[0] ?? WORD.exec(rest)?.[0];
  // A sentence may end right behind its example.
  return written === undefined ? undefined : withoutEnd(written, '._:/-');
}

function exampleText(name: string, param: ActionParam): string {
  const given = givenExample(param);
  if (given !== undefined && given !== '') return given;
  return EXAMPLES.find(([pattern]) => pattern.test(spoken(name)))?.[1] ?? 'example';
}

function exampleItem(name: string, param: ActionParam, type: 'string' | 'number' | 'boolean'): ParamValue {
  const [allowed] = param.enum ?? [];
  if (allowed !== undefined) return allowed;
  if (type === 'boolean') return true;
  const text = exampleText(name, param);
  if (type === 'string') return text;
  const number = Number(text);
  return Number.isFinite(number) ? number : 1;
}

/** A value that the parameter accepts: the declared example as it is, an allowed one, what its description gives, or one of its kind. */
export function exampleValue(name: string, param: ActionParam): ParamValue | readonly ParamValue[] {
  const { example } = param;
  if (example !== undefined && valueProblem(param, example) === null) return example;
  if (param.type !== 'array') return exampleItem(name, param, param.type);
  return [exampleItem(name, param, param.items ?? 'string')];
}

/** Quoted where it would run into the sentence otherwise. */
function written(value: ParamValue): string {
  return typeof value !== 'string' || /^[^\s"\d@:]*[\d@:][^\s"]*$/.test(value) ? String(value) : `"${value}"`;
}

function actionQuestion(action: ManifestAction, { please }: Wording): string {
  const values = Object.entries(action.params)
    .filter(([, param]) => param.required)
    .map(([name, param]) => {
      const value = exampleValue(name, param);
      return `${spoken(name)} ${(Array.isArray(value) ? value : [value]).map(written).join(', ')}`;
    });
  return please(spoken(action.name), values);
}

/** Those that are sure to accept their example come first: the fewest values to make up. */
function readActions(actions: readonly ManifestAction[]): ManifestAction[] {
  const invented = ({ params }: ManifestAction) =>
    Object.values(params).filter(
      (param) => param.required && param.example === undefined && param.enum === undefined && givenExample(param) === undefined,
    ).length;
  return actions
    .filter((action) => action.risk === 'read')
    .map((action) => ({ action, count: invented(action) }))
    .sort((one, other) => one.count - other.count)
    .map(({ action }) => action);
}

/** Three to five different questions, the best mix first; general ones only where nothing else is left to ask. */
export function smokeQuestions({ suggestions, titles, actions, languages }: AskableConfiguration): SmokeQuestion[] {
  const wording = wordingOf(languages);
  const suggested = suggestions.filter((text) => text.trim() !== '').map((text): SmokeQuestion => ({ text, from: 'suggestion' }));
  const [known = [], ...knownOtherwise] = wording.about.map((ask) =>
    titles
      .map((title) => title.trim())
      .filter((title) => title !== '')
      .map((title): SmokeQuestion => ({ text: QUESTION.test(title) ? title : ask(title), from: 'knowledge' })),
  );
  const acted = readActions(actions).map((action): SmokeQuestion => ({ text: actionQuestion(action, wording), from: 'action' }));
  const questions = new Map<string, SmokeQuestion>();
  const take = (from: readonly SmokeQuestion[], count: number) => {
    for (const question of from.slice(0, count)) if (!questions.has(sameAs(question))) questions.set(sameAs(question), question);
  };
  take(suggested, SUGGESTIONS_FIRST);
  take(known, TITLES_FIRST);
  take(acted, ACTIONS_FIRST);
  // Further questions on other subjects fill the run up to its maximum, so that one answer decides less. The same titles in other words, and
  // general questions, fill it up to its minimum only.
  take([...known, ...acted, ...suggested], Number.POSITIVE_INFINITY);
  const general = wording.general.map((text): SmokeQuestion => ({ text, from: 'general' }));
  for (const question of [...knownOtherwise.flat(), ...general]) {
    if (questions.size >= SMOKE_QUESTIONS_MIN) break;
    take([question], 1);
  }
  return [...questions.values()].slice(0, SMOKE_QUESTIONS_MAX);
}
