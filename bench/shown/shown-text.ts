/** A request to the model as a person reads it. What differs from run to run (marks, ids, the time) is told as if it did not. Pure. */
import type { UpstreamRequest } from '../../tests/support/upstream.ts';

export interface Part {
  /** `user`, `assistant`, `call comparison`, `result of comparison`. */
  readonly title: string;
  readonly text: string;
}

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export function steady(text: string): string {
  return text
    .replaceAll(/<<(data|end):(?!000000000000)[0-9a-f]{12}/g, '<<$1:MARK')
    .replaceAll(/^Now: \w+ \d{4}-\d\d-\d\d \d\d:\d\d/gm, 'Now: Tuesday 2026-11-24 05:12')
    .replaceAll(/\b(blk|inv|msg|cnv|upl)_[0-9a-z]{20,}/g, '$1_…');
}

/** Words of a message, and what stands for its pictures. */
function wordsOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? '');
  return content.map((part: { type: string; text?: string }) => part.text ?? `(${part.type})`).join('\n');
}

/** The messages behind the instructions. */
export function messageParts({ messages }: UpstreamRequest): readonly Part[] {
  const names = new Map<string | undefined, string>();
  return messages.slice(1).flatMap(({ role, content, tool_calls, tool_call_id }) => {
    const text = steady(wordsOf(content));
    if (role === 'tool') return [{ title: `result of ${names.get(tool_call_id)}`, text }];
    const calls = ((tool_calls ?? []) as readonly Call[]).map(({ id, function: { name, arguments: args } }) => {
      names.set(id, name);
      return { title: `call ${name}`, text: steady(args) };
    });
    return text === '' ? calls : [{ title: role, text }, ...calls];
  });
}

export const systemOf = ({ messages }: UpstreamRequest) => steady(wordsOf(messages[0]?.content));

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** A definition: what it says of itself, then a line for each parameter, whole. */
export function definitionParts({ tools = [] }: UpstreamRequest): readonly Part[] {
  return tools.map(({ function: { name, description, parameters } }) => {
    const { properties = {}, required = [] } = parameters as Schema;
    const lines = Object.entries(properties).map(
      ([field, schema]) => `${field}${required.includes(field) ? '' : '?'}: ${steady(JSON.stringify(schema))}`,
    );
    return { title: name, text: [description, ...lines].join('\n') };
  });
}
