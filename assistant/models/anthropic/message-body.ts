/** Owns how a round's request is written for a Messages server. */
import type { ChatMessage, ModelRequest, ToolDefinition } from '../model.ts';
import { withBeside } from '../stream/beside.ts';
import { type Base64Of, endOffering, type PassingBody, type StreamedBody, writtenBody } from '../stream/request-body.ts';

/** The server wants a bound. Twice what an answer may have here, and no more than its older models take. */
const ANSWER_MAX_TOKENS = 8_192;

/** Up to here a request is the same in the next turn: the server keeps what it has read so far. */
const STAYS = { cache_control: { type: 'ephemeral' } } as const;

type Block = { readonly type: string; readonly cache_control?: { readonly type: 'ephemeral' } } & Readonly<Record<string, unknown>>;

interface MessageParam {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** Ids of calls may have been given by another server; this one takes no other characters. */
function idOf(id: string): string {
  return id.replace(/[^\w-]/g, '_');
}

/** The server refuses a block of white space. */
function textBlocks(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** What the model wrote as arguments, or nothing where that is no object: the server takes objects alone. */
function inputOf(written: string): unknown {
  try {
    const input: unknown = JSON.parse(written);
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  } catch {
    return {};
  }
}

function blocksOf(message: ChatMessage, base64: Base64Of): Block[] {
  switch (message.role) {
    case 'user': {
      const pictures = (message.images ?? []).map((image) => ({
        type: 'image',
        source: { type: 'base64', media_type: image.mediaType, data: base64(image) },
      }));
      return [...textBlocks(message.content), ...pictures];
    }
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: idOf(message.toolCallId), content: message.content }];
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map(({ id, name, arguments: written }) => ({
        type: 'tool_use',
        id: idOf(id),
        name,
        input: inputOf(written),
      }));
      return [...textBlocks(message.content), ...calls];
    }
  }
}

/** Roles alternate, the person's first; results of calls and what was said after them are one message. */
function messageParams(request: ModelRequest, base64: Base64Of): MessageParam[] {
  const messages = withBeside(request);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  // Behind the last answer comes what is told of this turn alone: the time, the screen, passages.
  const stays = messages.findLastIndex(({ role }, at) => at < last && role !== 'user');
  const params: MessageParam[] = [];
  for (const [at, message] of messages.entries()) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message, base64);
    const end = blocks.at(-1);
    if (end === undefined) continue;
    if (at === stays) blocks[blocks.length - 1] = { ...end, ...STAYS };
    const before = params.at(-1);
    if (before?.role === role) before.content.push(...blocks);
    else if (before === undefined && role === 'assistant')
      params.push({ role: 'user', content: textBlocks('…') }, { role, content: blocks });
    else params.push({ role, content: blocks });
  }
  return params;
}

function toolParam({ name, description, parameters }: ToolDefinition) {
  return { name, description, input_schema: parameters };
}

/** The other words of effort are those of other makers. */
const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
const TEMPERATURE_MAX = 1;

function parameters({ temperature, effort, max_output_tokens: most }: NonNullable<ModelRequest['choice']>) {
  return {
    ...(most != null && { max_tokens: most }),
    ...(temperature != null && { temperature: Math.min(temperature, TEMPERATURE_MAX) }),
    ...(effort != null && EFFORTS.has(effort) && { output_config: { effort } }),
  };
}

const offered = endOffering((tools) => ({ tools: tools.map(toolParam) }));

/** Throws when a tool's parameters cannot be written as JSON. */
export function messagesBody(model: string, request: ModelRequest): PassingBody | StreamedBody {
  const write = (asked: ModelRequest, base64: Base64Of) => ({
    model,
    max_tokens: ANSWER_MAX_TOKENS,
    stream: true,
    // The tools count as standing before it.
    system: textBlocks(asked.system).map((block) => ({ ...block, ...STAYS })),
    messages: messageParams(asked, base64),
    ...(asked.choice && parameters(asked.choice)),
  });
  return writtenBody(request, write, offered(request.tools));
}
