/** The words in which the model asks for something, and is told of its calls, within a turn. */
import type { Passage, ToolCall } from '../../assistant/models/model.ts';
import { passageWords } from '../../assistant/passage-words.ts';
import { type Detail, summarise } from '../../protocol/schema/issues.ts';

/** What a call of the knowledge search looks for; '' when it does not say. */
export function queryOf(call: ToolCall): string {
  try {
    const { query } = JSON.parse(call.arguments) as { query?: unknown };
    return typeof query === 'string' ? query : '';
  } catch {
    return '';
  }
}

/** What the model is told of a call that does not fit its definition. */
export function refusal(details: readonly Detail[]): string {
  return `The call was not accepted: ${summarise(details)}. ${JSON.stringify(details)} Correct it and call again.`;
}

/** What the model is told was found. */
export function passagesText(passages: readonly Passage[]): string {
  if (passages.length === 0) return 'Nothing was found.';
  return passages.map(passageWords).join('\n\n');
}
