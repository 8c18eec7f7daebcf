/** Owns how a round's request is written for a chat-completions server (MODEL-14). */
import { randomUUID } from 'node:crypto';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { passagesWords } from '../../fence.ts';
import type { ChatMessage, ImagePart, ModelRequest, ToolDefinition } from '../model.ts';
import { PassingBody, type StreamedBody, streamedBody } from '../stream/request-body.ts';

/** What stands in a picture's URL where its base64 goes. */
type Base64Of = (image: ImagePart) => string;

/** The time and the passages as one message, if there are any. Of role user: what passages say must not have the weight of instructions. */
function besideMessage({ now, passages }: ModelRequest): ChatCompletionMessageParam[] {
  const words = [now, passages.length === 0 ? '' : passagesWords(passages)].filter((part) => part !== '').join('\n\n');
  return words === '' ? [] : [{ role: 'user', content: words }];
}

/** Words alone stay a string: not every server takes parts. */
function userContent(
  { content, images = [] }: Extract<ChatMessage, { role: 'user' }>,
  base64: Base64Of,
): string | ChatCompletionContentPart[] {
  if (images.length === 0) return content;
  const pictures = images.map(
    (image): ChatCompletionContentPart => ({
      type: 'image_url',
      image_url: { url: `data:${image.mediaType};base64,${base64(image)}` },
    }),
  );
  return [{ type: 'text', text: content }, ...pictures];
}

function messageParam(message: ChatMessage, base64: Base64Of): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message, base64) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      if (message.toolCalls === undefined || message.toolCalls.length === 0) return { role: 'assistant', content: message.content };
      return {
        role: 'assistant',
        // Upstreams send null for "calls only" and expect to get it back.
        content: message.content === '' ? null : message.content,
        tool_calls: message.toolCalls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      };
    }
  }
}

export function toolParam(tool: ToolDefinition): ChatCompletionFunctionTool {
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.parameters } };
}

/** The time and the passages stand in a message of their own right before the last user message: what is before it stays from turn to turn. `base64` is asked for pictures in their order. */
export function chatMessages(request: ModelRequest, base64: Base64Of): ChatCompletionMessageParam[] {
  const rendered: ChatCompletionMessageParam[] = [{ role: 'system', content: request.system }];
  const lastUser = request.messages.findLastIndex((message) => message.role === 'user');
  const before = lastUser < 0 ? request.messages.length : lastUser;
  for (const [index, message] of request.messages.entries()) {
    if (index === before) rendered.push(...besideMessage(request));
    rendered.push(messageParam(message, base64));
  }
  if (before === request.messages.length) rendered.push(...besideMessage(request));
  return rendered;
}

/** Less is copied behind what is said and written with it; more is written as it is, in a piece of its own. */
const COPIED_MAX_BYTES = 4 * 1024;

/** By the list that a toolset holds, and for as long as it does: most of a request is its tools, and to write them takes most of the time. */
const toolsWritten = new WeakMap<readonly ToolDefinition[], Buffer>();

/** The end of a body, which offers `tools`; the same bytes for the same list. */
function endOffering(tools: readonly ToolDefinition[]): Buffer {
  let end = toolsWritten.get(tools);
  if (end === undefined) {
    end = Buffer.from(tools.length === 0 ? '}' : `,"tools":${JSON.stringify(tools.map(toolParam))},"tool_choice":"auto"}`);
    toolsWritten.set(tools, end);
  }
  return end;
}

/** With pictures, a body that they are written into while it is sent. Throws when a tool's parameters cannot be written as JSON. */
export function completionBody(model: string, request: ModelRequest): PassingBody | StreamedBody {
  const pictures: ImagePart[] = [];
  // Nobody who writes a message knows it: it stands where pictures go, and nowhere else.
  let gap = '';
  const body: ChatCompletionCreateParamsStreaming = {
    model,
    messages: chatMessages(request, (picture) => {
      pictures.push(picture);
      gap ||= randomUUID();
      return gap;
    }),
    stream: true,
    stream_options: { include_usage: true },
  };
  const said = JSON.stringify(body).slice(0, -1);
  const end = endOffering(request.tools);
  if (pictures.length > 0) return streamedBody(`${said}${end}`.split(gap), pictures);
  if (end.byteLength > COPIED_MAX_BYTES) return new PassingBody([Buffer.from(said), end]);
  const whole = Buffer.allocUnsafe(Buffer.byteLength(said) + end.byteLength);
  end.copy(whole, whole.write(said));
  return new PassingBody([whole]);
}
