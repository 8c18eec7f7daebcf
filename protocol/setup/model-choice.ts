/** Which of the installation's models answer an app, and how they are asked (MODEL-43): a field of the persona draft. */
import * as v from 'valibot';
import { whole } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { distinct } from './accept.ts';
import { fields, listOf } from './shapes.ts';

const NAME_MAX_CHARS = 200;
const FALLBACKS_MAX = 2;
export const TEMPERATURE_MAX = 2;
/** OpenAI's Responses take no less. */
export const OUTPUT_TOKENS_MIN = 16;
export const OUTPUT_TOKENS_MAX = 65_536;

/** The words of all wires; each is asked with those that it knows. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const name = text(NAME_MAX_CHARS, 1);
const TEMPERATURE_RULE = `must be from 0 to ${TEMPERATURE_MAX}`;
const temperature = v.pipe(v.number('must be a number'), v.minValue(0, TEMPERATURE_RULE), v.maxValue(TEMPERATURE_MAX, TEMPERATURE_RULE));

export const modelChoice = fields({
  use: v.optional(name),
  fallbacks: v.optional(v.pipe(listOf(name, 0, FALLBACKS_MAX), distinct())),
  temperature: v.optional(v.nullable(temperature)),
  effort: v.optional(v.nullable(v.picklist(EFFORTS, `must be one of ${EFFORTS.join(', ')}`))),
  max_output_tokens: v.optional(v.nullable(whole(OUTPUT_TOKENS_MIN, OUTPUT_TOKENS_MAX))),
});
type Written = v.InferOutput<typeof modelChoice>;
export type ModelChoice = Readonly<Omit<Written, 'fallbacks'>> & { readonly fallbacks?: readonly string[] | undefined };

/** A model that an app may choose. Where it is, its key and its price are the operator's. */
export interface ModelOffer {
  readonly name: string;
  readonly reads: readonly ('text' | 'documents' | 'images')[];
}

/** What of the choice is set; null where it leaves everything to the installation. */
export function madeChoice(choice: ModelChoice | undefined): ModelChoice | null {
  const set = Object.entries(choice ?? {}).filter(([, value]) => value != null);
  return set.length > 0 ? Object.fromEntries(set) : null;
}

/** The fields that name a model which is not offered, with its name. */
export function unlistedIn(choice: ModelChoice, offers: readonly ModelOffer[]): { readonly path: string; readonly name: string }[] {
  const { use, fallbacks = [] } = choice;
  const named = [
    ...(use === undefined ? [] : [{ path: 'use', name: use }]),
    ...fallbacks.map((each, at) => ({ path: `fallbacks[${at}]`, name: each })),
  ];
  return named.filter((each) => !offers.some((offer) => offer.name === each.name));
}
