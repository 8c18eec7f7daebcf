/** The discovery report: what an agent found an app's code to be made of (SETUP-49). */
import * as v from 'valibot';
import { LOCALE_MAX_CHARS } from '../language-tag.ts';
import { DETECTED_FONTS_MAX, DETECTED_LOCALES_MAX } from '../limits.ts';
import { flag, whole } from '../schema/bounded.ts';
import { text } from '../schema/text.ts';
import { fields, listOf } from './shapes.ts';

/** A name, a version or a path; whoever has more to say writes it into an event's detail. */
const FINDING_MAX_CHARS = 200;
/** Counts of things that somebody wrote by hand. */
const COUNT_MAX = 1_000_000;

const finding = v.optional(text(FINDING_MAX_CHARS));
const count = v.optional(whole(0, COUNT_MAX));

export const detected = fields({
  platform: finding,
  framework: finding,
  router: finding,
  http: finding,
  auth: finding,
  locales: v.optional(listOf(text(LOCALE_MAX_CHARS, 1), 0, DETECTED_LOCALES_MAX)),
  screens: count,
  apiCalls: count,
  themeFile: finding,
  darkTheme: v.optional(flag),
  fonts: v.optional(listOf(text(FINDING_MAX_CHARS, 1), 0, DETECTED_FONTS_MAX)),
  logoFile: finding,
});
export type Detected = Readonly<v.InferOutput<typeof detected>>;

/** The report after another one: field by field, a list replaces the list before it (SETUP-49). */
export function mergeDetected(before: Detected | null, after: Detected): Detected {
  return { ...before, ...after };
}
