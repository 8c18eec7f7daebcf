/** Owns how a round's request is written for a chat-completions server (MODEL-14). */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ChatMessage, ModelRequest, ToolDefinition } from '../model.ts';
import { withBeside } from '../stream/beside.ts';
import { type Base64Of, endOffering, type PassingBody, type StreamedBody, writtenBody } from '../stream/request-body.ts';

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

/** `base64` is asked for pictures in their order. */
export function chatMessages(request: ModelRequest, base64: Base64Of): ChatCompletionMessageParam[] {
  return [{ role: 'system', content: request.system }, ...withBeside(request).map((message) => messageParam(message, base64))];
}

const offered = endOffering((tools) => ({ tools: tools.map(toolParam), tool_choice: 'auto' }));

/** They refuse the older name of the bound; servers of others know no other. */
const MAKERS_HOST = /(?:^|\.)(?:openai|azure)\.com$/;

function parameters({ temperature, effort, max_output_tokens: most }: NonNullable<ModelRequest['choice']>, host: string) {
  return {
    ...(temperature != null && { temperature }),
    ...(effort != null && { reasoning_effort: effort }),
    ...(most != null && (MAKERS_HOST.test(host) ? { max_completion_tokens: most } : { max_tokens: most })),
  };
}

/** `host`: of the server. Throws when a tool's parameters cannot be written as JSON. */
export function completionBody(model: string, request: ModelRequest, host = ''): PassingBody | StreamedBody {
  const write = (asked: ModelRequest, base64: Base64Of): ChatCompletionCreateParamsStreaming => ({
    model,
    messages: chatMessages(asked, base64),
    stream: true,
    stream_options: { include_usage: true },
    ...(asked.choice && parameters(asked.choice, host)),
  });
  return writtenBody(request, write, offered(request.tools));
}
