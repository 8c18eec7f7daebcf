/** A request to the model as a person reads it, part by part. Pure. */
import type { ModelRequest } from '../model.ts';
import { chatMessages, toolParam } from './chat-messages.ts';

export interface Part {
  /** `user`, `assistant`, `call comparison`, `result of comparison`; of a definition the name of the tool. */
  readonly title: string;
  readonly text: string;
}

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Messages and tools as they stand in a body for a chat-completions server. */
interface Written {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: unknown;
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description?: string; readonly parameters?: unknown };
  }[];
}

/** Words of a message, and what stands for its pictures. */
function wordsOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? '');
  return content.map((part: { type: string; text?: string }) => part.text ?? `(${part.type})`).join('\n');
}

/** The messages behind the instructions. */
export function messageParts({ messages }: Written): readonly Part[] {
  const names = new Map<string | undefined, string>();
  return messages.slice(1).flatMap(({ role, content, tool_calls, tool_call_id }) => {
    const text = wordsOf(content);
    if (role === 'tool') return [{ title: `result of ${names.get(tool_call_id)}`, text }];
    const calls = ((tool_calls ?? []) as readonly Call[]).map(({ id, function: { name, arguments: args } }) => {
      names.set(id, name);
      return { title: `call ${name}`, text: args };
    });
    return text === '' ? calls : [{ title: role, text }, ...calls];
  });
}

export const systemOf = ({ messages }: Written) => wordsOf(messages[0]?.content);

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** A definition: what it says of itself, then a line for each parameter, whole. */
export function definitionParts({ tools = [] }: Written): readonly Part[] {
  return tools.map(({ function: { name, description = '', parameters = {} } }) => {
    const { properties = {}, required = [] } = parameters as Schema;
    const lines = Object.entries(properties).map(
      ([field, schema]) => `${field}${required.includes(field) ? '' : '?'}: ${JSON.stringify(schema)}`,
    );
    return { title: name, text: [description, ...lines].join('\n') };
  });
}

/** All that a request holds; pictures by their kind. */
export function requestParts(request: ModelRequest) {
  const written = { messages: chatMessages(request, () => ''), tools: request.tools.map(toolParam) };
  return { system: systemOf(written), definitions: definitionParts(written), messages: messageParts(written) };
}
