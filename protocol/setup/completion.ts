/** Bodies of POST /complete and POST /fail, which end a session (SETUP-51, SETUP-53). */
import * as v from 'valibot';
import { COMPLETION_LINE_MAX_CHARS, FAIL_REASON_MAX_CHARS, FILES_CHANGED_MAX, HUMAN_TODOS_MAX, SUMMARY_MAX_CHARS } from '../limits.ts';
import { filledText } from '../schema/text.ts';
import { fields, listOf } from './shapes.ts';
import { AGENT_STEPS } from './steps.ts';

export const completeBody = fields({
  summary: v.pipe(filledText(SUMMARY_MAX_CHARS), v.description('Markdown: what was done.')),
  files_changed: v.optional(listOf(filledText(COMPLETION_LINE_MAX_CHARS), 0, FILES_CHANGED_MAX)),
  human_todos: v.optional(listOf(filledText(COMPLETION_LINE_MAX_CHARS), 0, HUMAN_TODOS_MAX)),
});
export type CompleteBody = Readonly<v.InferOutput<typeof completeBody>>;

export const failBody = fields({
  reason: filledText(FAIL_REASON_MAX_CHARS),
  step: v.optional(v.picklist(AGENT_STEPS)),
});
export type FailBody = Readonly<v.InferOutput<typeof failBody>>;
