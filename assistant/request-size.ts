/** How long a round's request is, for a guess at what it costs where the upstream does not say. */
import type { ChatMessage, ModelRequest, ToolDefinition } from './models/model.ts';

/** Computed once for each toolset: most rounds of an app share one. */
const toolChars = new WeakMap<readonly ToolDefinition[], number>();

function charsOfTools(tools: readonly ToolDefinition[]): number {
  let chars = toolChars.get(tools);
  if (chars === undefined) {
    chars = JSON.stringify(tools).length;
    toolChars.set(tools, chars);
  }
  return chars;
}

function charsOfMessage(message: ChatMessage): number {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, message.content.length);
}

/** Its words in UTF-16 units: instructions, conversation, passages and the definitions of tools. Pictures are not counted. */
export function charsOf({ system, messages, passages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, message) => sum + charsOfMessage(message), system.length);
  const found = passages.reduce((sum, { title, headings, text }) => sum + title.length + headings.join('').length + text.length, 0);
  return said + found + charsOfTools(tools);
}
