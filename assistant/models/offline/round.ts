/** Owns what the offline model decides to say in one round. Pure: the same request gives the same round. */
import type { ChatMessage, ModelRequest } from '../model.ts';
import { callKey, matchAction, matchSubmission } from './actions.ts';
import { answerFromPassages } from './answer.ts';
import { withoutFences } from './fence.ts';
import { askedSample, askedScreen, asksForHelp, helpText, offer } from './help.ts';
import { type ComponentCall, reportResult } from './results.ts';

export interface Round {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

/** Component calls in one round (MODEL-5). */
const COMPONENT_CALLS_MAX = 8;
/** A message of 4,000 characters; what stands beyond it is a pasted document. */
const QUESTION_MAX_CHARS = 4_000;
/** "Hello there, thanks a lot for your help": longer messages ask something. */
const GREETING_WORDS_MAX = 8;

const HELLO = /^(?:hi|hello|hey|hiya|greetings|hallo|hola|bonjour|salut|ciao|servus|moin|olá|ola|hej|morning|afternoon|evening|tag)$/;
const THANKS = /^(?:thanks|thank|thx|ty|cheers|danke|merci|gracias|grazie|obrigado|obrigada|bye|goodbye|perfect|great|awesome)$/;
const FILLER =
  /^(?:there|good|guten|buenos|días|you|u|a|so|very|much|lot|for|the|your|that|this|is|was|it|help|all|everyone|and|again|ok|okay|well|schön|vielen|dank|muchas|beaucoup|now|assistant|team|my|dear|how|are|doing|today)$/;

const BLIND = 'I cannot look at pictures.';

/** What the person wrote, without the data that came with it. */
function questionOf(message: ChatMessage): string {
  return withoutFences(message.content).slice(0, QUESTION_MAX_CHARS).trim();
}

/** Whether pictures came with what the person said last: in the same message or right before it. */
function showsPictures(messages: readonly ChatMessage[]): boolean {
  const said = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return said.some((message) => message.role === 'user' && (message.images?.length ?? 0) > 0);
}

function greetingKind(question: string): 'hello' | 'thanks' | undefined {
  const words = question.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  if (words.length === 0 || words.length > GREETING_WORDS_MAX) return undefined;
  if (!words.every((word) => HELLO.test(word) || THANKS.test(word) || FILLER.test(word))) return undefined;
  if (words.some((word) => THANKS.test(word))) return 'thanks';
  return words.some((word) => HELLO.test(word)) ? 'hello' : undefined;
}

function spokenAs(text: string): Round {
  return { text, calls: [] };
}

/** This turn's calls so far: what follows the last message of the person's. */
function callsDone(messages: readonly ChatMessage[]): Set<string> {
  const done = new Set<string>();
  for (const message of messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      try {
        done.add(callKey(call.name, JSON.parse(call.arguments) as Record<string, unknown>));
      } catch {
        // A call that is no JSON was refused and never ran.
      }
    }
  }
  return done;
}

function answerQuestion(request: ModelRequest, question: string): Round {
  const { tools, passages } = request;
  const greeting = greetingKind(question);
  if (greeting !== undefined) {
    const opening = greeting === 'hello' ? 'Hello!' : "You're welcome!";
    const offered = offer(tools, passages.length > 0);
    const closing = greeting === 'hello' ? 'What would you like to know?' : 'Is there anything else?';
    return spokenAs([opening, offered, closing].filter((part) => part !== '').join(' '));
  }
  if (asksForHelp(question)) return spokenAs(helpText(tools, passages.length > 0));
  const sample = askedSample(question, tools);
  if (sample !== undefined) {
    const call = { name: sample.name, arguments: JSON.stringify(sample.body) };
    return { text: `This is a sample of \`${sample.name}\`, with made-up data:`, calls: [call] };
  }
  const screen = askedScreen(question, tools);
  if (screen !== undefined) return { text: 'This leads there:', calls: [{ name: screen.name, arguments: JSON.stringify(screen.body) }] };
  const action = matchSubmission(question, tools) ?? matchAction(question, tools, callsDone(request.messages));
  if (action !== undefined) return { text: '', calls: [{ name: action.name, arguments: JSON.stringify(action.args) }] };
  const answer = answerFromPassages(question, passages);
  if (answer === undefined) {
    const offered = offer(tools, false);
    if (showsPictures(request.messages)) return spokenAs([BLIND, offered].join(' ').trim());
    const refusal = "I don't know anything about that.";
    return spokenAs(offered === '' ? `${refusal} Nothing was found that answers it.` : `${refusal} ${offered}`);
  }
  const offered = new Set(tools.filter((tool) => tool.kind === 'component').map((tool) => tool.name));
  const calls: Round['calls'] = [
    { name: 'key_points', body: answer.keyPoints },
    { name: 'quick_replies', body: answer.quickReplies },
  ].flatMap(({ name, body }) => (body === undefined || !offered.has(name) ? [] : [{ name, arguments: JSON.stringify(body) }]));
  return { text: answer.text, calls };
}

function answerResults(request: ModelRequest, results: readonly Extract<ChatMessage, { role: 'tool' }>[]): Round {
  const kinds = new Map(request.tools.map((tool) => [tool.name, tool.kind]));
  const offered = new Set(request.tools.filter((tool) => tool.kind === 'component').map((tool) => tool.name));
  const ofActions = results.filter((result) => kinds.get(result.name) !== 'component');
  if (ofActions.length === 0) {
    // A component that was refused is not made again: what it would have shown was said beside it.
    const said = request.messages.findLast((message) => message.role === 'assistant')?.content ?? '';
    return spokenAs(said === '' ? 'I could not show that here.' : '');
  }
  const texts: string[] = [];
  const components: ComponentCall[] = [];
  for (const result of ofActions) {
    const report = reportResult(result.name, result.content, components.length < COMPONENT_CALLS_MAX ? offered : new Set());
    texts.push(report.text);
    if (report.component !== undefined) components.push(report.component);
  }
  return { text: texts.join('\n\n'), calls: components.map(({ name, body }) => ({ name, arguments: JSON.stringify(body) })) };
}

/** Help or a sample when asked for; else a call; else sentences of the passages; else that nothing is known. Never throws. */
export function planRound(request: ModelRequest): Round {
  const { messages } = request;
  const asked = messages.findLastIndex((message) => message.role !== 'tool');
  const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
  if (results.length > 0) return answerResults(request, results);
  const last = messages[asked];
  return answerQuestion(request, last?.role === 'user' ? questionOf(last) : '');
}
