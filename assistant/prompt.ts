/** What the model is told: who it is (trusted), what was said, and data it may use but never obey (fenced). */
import { registeredTag } from '../protocol/language-tag.ts';
import type { TurnContext } from '../protocol/runtime/chat.ts';
import type { Persona } from '../protocol/setup/persona.ts';
import { FENCE_RULE, fence } from './fence.ts';
import type { ChatMessage, ModelRequest, Passage, ToolDefinition } from './models/model.ts';
import type { Sender } from './models/stream/sending-budget.ts';
import { NO_ANSWER_RULE } from './no-answer-mark.ts';
import { placeholderOf } from './privacy/placeholder.ts';

/** What stands for personal data (PRIVACY-1), in one sentence or two. */
const PLACEHOLDER_RULE = `Words such as ${placeholderOf('email', 1)}, ${placeholderOf('phone', 2)}, ${placeholderOf('iban', 1)} or ${placeholderOf('card', 1)} stand for real values that the person gave and that you are not shown. Write them exactly so in text and in parameters, where they are replaced by the real value; never guess or change one, put it into an address, or ask for the value again.`;

const RULES = `How you answer:
- Say the answer first, in one to three sentences. Then add at most one large component (several sections are one), and follow-ups last, only where they show it better. Never say the same in words and in a component, and do not announce calls.
- To show a component call its tool; never write its name, [brackets] or HTML in text. Ask with choice or form, not in prose. When two things are asked, answer both.
- In components leave out what you do not know: no empty text, no made-up picture, address, time or code. Times are RFC 3339 with offset; one without a zone is of the zone in "Now", one without a clock stays words. Money is {"amount":"12.50","currency":"EUR"}. Titles, labels and cells are a few words, at most 60 characters; "<=24" in a definition means at most 24.
- Answer from the passages of the app's documentation, the state of the app or a tool's result, and name the title of a passage that a rule, price or term comes from. When they do not answer it, say so; never make facts up.
- ${NO_ANSWER_RULE}
- ${FENCE_RULE}
- ${PLACEHOLDER_RULE}
- Call an action only when the person's own words ask for it. When a value is missing, ask; never make one up. When one failed or did not answer, say so and what can be done; try again only with other values.
- An action that changes something shows a card with buttons. Nothing is done before its result says so, and words such as "yes" do not confirm: when a card waits, ask for its button and do not call the action again. When it was declined, leave it.`;

function lines(title: string, text: string): string {
  return text === '' ? '' : `\n\n${title}:\n${text}`;
}

/** By persona, the instructions that were asked for last: most devices of an app have one language. */
const lastPrompts = new WeakMap<Persona, { readonly appName: string; readonly locale: string | null; readonly text: string }>();

/** The trusted instructions; the same for every turn of an app until its persona changes. `locale`: a language tag, or null. */
export function systemPrompt(appName: string, persona: Persona, locale: string | null): string {
  const last = lastPrompts.get(persona);
  if (last?.appName === appName && last.locale === locale) return last.text;
  const text = writtenPrompt(appName, persona, locale);
  lastPrompts.set(persona, { appName, locale, text });
  return text;
}

function writtenPrompt(appName: string, persona: Persona, locale: string | null): string {
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
  readonly now: string;
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
  const { system, now, passages, tools, requestId, sender } = input;
  if (about === null) return { system, messages: input.messages, now, passages, tools, requestId, sender };
  const last = input.messages.findLastIndex((message) => message.role === 'user');
  const messages = [...input.messages.slice(0, Math.max(0, last)), about, ...input.messages.slice(Math.max(0, last))];
  return { system, messages, now, passages, tools, requestId, sender };
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
export function charsOf({ system, messages, now, passages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, message) => sum + charsOfMessage(message), system.length + now.length);
  const found = passages.reduce((sum, { title, headings, text }) => sum + title.length + headings.join('').length + text.length, 0);
  return said + found + charsOfTools(tools);
}
