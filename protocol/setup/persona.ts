/**
 * The assistant's persona (PERSONA-1): one schema for the setup interface, the console and
 * what is read back from storage. Every field is optional, because a write is a patch; '' and [] take a value back.
 */
import * as v from 'valibot';
import {
  PERSONA_LANGUAGES_MAX,
  PERSONA_NAME_MAX_CHARS,
  PERSONA_TEXT_MAX_CHARS,
  PERSONA_TOPIC_MAX_CHARS,
  PERSONA_TOPICS_MAX,
  REASON_MAX_CHARS,
  SUGGESTION_MAX_CHARS,
  SUGGESTIONS_MAX,
  WELCOME_BODY_MAX_CHARS,
  WELCOME_TITLE_MAX_CHARS,
} from '../limits.ts';
import { text } from '../schema/text.ts';
import { distinct } from './accept.ts';
import { type ModelChoice, madeChoice, modelChoice } from './model-choice.ts';
import { fields, listOf } from './shapes.ts';

/** A persona with nothing left open: what a turn is answered with. */
export interface Persona {
  readonly assistantName: string;
  readonly tone: string;
  readonly instructions: string;
  /** One rule a line, each starting with `Always` or `Never`. */
  readonly guardrails: string;
  readonly topics: readonly string[];
  /** Language subtags, the default first; empty: whatever the person writes in. */
  readonly languages: readonly string[];
  readonly welcomeTitle: string;
  readonly welcomeBody: string;
  readonly suggestions: readonly string[];
  /** Null: the installation's models in their order. */
  readonly model: ModelChoice | null;
}

export const DEFAULT_PERSONA: Persona = {
  assistantName: 'Assistant',
  tone: '',
  instructions: '',
  guardrails: '',
  topics: [],
  languages: [],
  welcomeTitle: '',
  welcomeBody: '',
  suggestions: [],
  model: null,
};

function distinctTexts(itemMaxChars: number, max: number) {
  return v.pipe(listOf(text(itemMaxChars, 1), 0, max), distinct());
}

/** A line is blank or a rule; what stands before the rule is white space that does not end the line. */
const RULE_LINE = '[^\\S\\n]*(?:(?:Always|Never)\\b[^\\n]*)?';

const guardrails = v.pipe(
  text(PERSONA_TEXT_MAX_CHARS),
  v.regex(new RegExp(`^${RULE_LINE}(?:\\n${RULE_LINE})*$`), 'must be one rule a line, each starting with Always or Never'),
);

const language = v.pipe(
  v.string('must be a string'),
  v.regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language subtag such as en or pt-BR'),
);
const languages = v.pipe(listOf(language, 0, PERSONA_LANGUAGES_MAX), distinct());

/** Body of PUT /experience, and the draft as it is kept. */
export const experiencePatch = fields({
  assistantName: v.optional(text(PERSONA_NAME_MAX_CHARS)),
  tone: v.optional(text(PERSONA_TEXT_MAX_CHARS)),
  instructions: v.optional(text(PERSONA_TEXT_MAX_CHARS)),
  guardrails: v.optional(guardrails),
  topics: v.optional(distinctTexts(PERSONA_TOPIC_MAX_CHARS, PERSONA_TOPICS_MAX)),
  languages: v.optional(languages),
  welcomeTitle: v.optional(text(WELCOME_TITLE_MAX_CHARS)),
  welcomeBody: v.optional(text(WELCOME_BODY_MAX_CHARS)),
  suggestions: v.optional(distinctTexts(SUGGESTION_MAX_CHARS, SUGGESTIONS_MAX)),
  /** Taken as a whole; `{}` takes it back. */
  model: v.optional(modelChoice),
  reason: v.optional(text(REASON_MAX_CHARS)),
});
export type ExperiencePatch = v.InferOutput<typeof experiencePatch>;
export type ExperienceDraft = Readonly<ExperiencePatch>;

/** The draft with its gaps filled; a name that was taken back becomes the default one again. */
export function completePersona(draft: ExperienceDraft): Persona {
  const name = draft.assistantName ?? '';
  return {
    assistantName: name.trim() === '' ? DEFAULT_PERSONA.assistantName : name,
    tone: draft.tone ?? DEFAULT_PERSONA.tone,
    instructions: draft.instructions ?? DEFAULT_PERSONA.instructions,
    guardrails: draft.guardrails ?? DEFAULT_PERSONA.guardrails,
    topics: draft.topics ?? DEFAULT_PERSONA.topics,
    languages: draft.languages ?? DEFAULT_PERSONA.languages,
    welcomeTitle: draft.welcomeTitle ?? DEFAULT_PERSONA.welcomeTitle,
    welcomeBody: draft.welcomeBody ?? DEFAULT_PERSONA.welcomeBody,
    suggestions: draft.suggestions ?? DEFAULT_PERSONA.suggestions,
    model: madeChoice(draft.model),
  };
}
