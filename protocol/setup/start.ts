/** Body of POST /start (SETUP-46). */
import * as v from 'valibot';
import { AGENT_MODEL_MAX_CHARS, AGENT_OS_MAX_CHARS, TOOL_NAME_MAX_CHARS } from '../limits.ts';
import { filledText, text } from '../schema/text.ts';
import { detected } from './detected.ts';
import { fields } from './shapes.ts';

/** Tools that the console shows by their own names; any other name is shown as it is sent. */
export const KNOWN_TOOLS = ['claude_code', 'cursor', 'codex', 'windsurf', 'copilot', 'gemini'] as const;

export const startBody = fields({
  tool: v.pipe(
    filledText(TOOL_NAME_MAX_CHARS),
    v.description(`${KNOWN_TOOLS.join(', ')}, or a name of your own`),
    v.examples([...KNOWN_TOOLS]),
  ),
  model: v.optional(text(AGENT_MODEL_MAX_CHARS)),
  os: v.optional(text(AGENT_OS_MAX_CHARS)),
  detected: v.optional(detected),
});
export type StartBody = v.InferOutput<typeof startBody>;
