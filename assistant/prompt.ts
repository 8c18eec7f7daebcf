/** What the model is told: who it is (trusted), what was said, and data it may use but never obey (fenced). */
import { registeredTag } from '../protocol/language-tag.ts';
import type { TurnContext } from '../protocol/runtime/chat.ts';
import type { Persona } from '../protocol/setup/persona.ts';
import { FENCE_RULE, fence } from './fence.ts';
import type { ChatMessage, ModelRequest, Passage, ToolDefinition } from './models/model.ts';
import type { Sender } from './models/stream/sending-budget.ts';
import { NO_ANSWER_RULE } from './no-answer-mark.ts';

const RULES = `How you answer:
- Answer from the passages of the app's documentation when you are given some, and name what you used. When neither they nor a tool answers the question, say so plainly; never make facts up.
- ${NO_ANSWER_RULE}
- ${FENCE_RULE}
- Use a component when it shows the answer better than prose, and plain Markdown text otherwise. Never write HTML.
- Call an action only when the person's request needs it. Actions that change something wait for the person's confirmation; never claim that one was done before its result says so.`;

function lines(title: string, text: string): string {
  return text === '' ? '' : `\n\n${title}:\n${text}`;
}

/** The trusted instructions; the same for every turn of an app until its persona changes. `locale`: a language tag, or null. */
export function systemPrompt(appName: string, persona: Persona, locale: string | null): string {
  const { languages } = persona;
  const device = locale === null ? null : registeredTag(locale);
  const language =
    languages.length > 0
      ? `\n\nAnswer in the language of the person when it is one of ${languages.join(', ')}, else in ${languages[0]}.`
      : '\n\nAnswer in the language of the person.';
  return [
    `You are ${persona.assistantName}, the assistant inside the app "${appName}".`,
    lines('How you speak', persona.tone),
    lines('What you help with', persona.instructions),
    lines('Rules you keep', persona.guardrails),
    lines('Topics you do not discuss', persona.topics.map((topic) => `- ${topic}`).join('\n')),
    language,
    device === null ? '' : ` The device is set to ${device}.`,
    `\n\n${RULES}`,
  ].join('');
}

export interface PromptInput {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly passages: readonly Passage[];
  readonly context: TurnContext | undefined;
  /** JSON of what is known of the person, null when nothing is. */
  readonly traits: string | null;
  readonly tools: readonly ToolDefinition[];
  readonly requestId: string;
  readonly sender: Sender;
}

function contextMessage(input: PromptInput): ChatMessage | null {
  const { context, traits } = input;
  const parts: string[] = [];
  if (traits !== null) parts.push(fence('what is known of the person', traits));
  if (context?.current_screen != null) parts.push(fence('the screen the person sees', JSON.stringify(context.current_screen)));
  if (context?.app_state !== undefined) parts.push(fence('state of the app', JSON.stringify(context.app_state)));
  if (context?.open_forms !== undefined && context.open_forms.length > 0) {
    parts.push(fence('forms the person has begun to fill in', JSON.stringify(context.open_forms)));
  }
  return parts.length === 0 ? null : { role: 'user', content: parts.join('\n\n') };
}

/** One round's request. The data about the turn stands right before the message it belongs to. */
export function modelRequest(input: PromptInput): ModelRequest {
  const about = contextMessage(input);
  const { system, passages, tools, requestId, sender } = input;
  if (about === null) return { system, messages: input.messages, passages, tools, requestId, sender };
  const last = input.messages.findLastIndex((message) => message.role === 'user');
  const messages = [...input.messages.slice(0, Math.max(0, last)), about, ...input.messages.slice(Math.max(0, last))];
  return { system, messages, passages, tools, requestId, sender };
}

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
