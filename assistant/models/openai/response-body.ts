/** Owns how a round's request is written for a Responses server. Nothing is stored there, and no reasoning is sent back. */
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { ChatMessage, ModelRequest, ToolDefinition } from '../model.ts';
import { withBeside } from '../stream/beside.ts';
import { type Base64Of, endOffering, type PassingBody, type StreamedBody, writtenBody } from '../stream/request-body.ts';

function userContent({ content, images = [] }: Extract<ChatMessage, { role: 'user' }>, base64: Base64Of): string | ResponseInputContent[] {
  if (images.length === 0) return content;
  const pictures = images.map(
    (image): ResponseInputContent => ({
      type: 'input_image',
      detail: 'auto',
      image_url: `data:${image.mediaType};base64,${base64(image)}`,
    }),
  );
  return [{ type: 'input_text', text: content }, ...pictures];
}

function inputItems(message: ChatMessage, base64: Base64Of): ResponseInputItem[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: userContent(message, base64) }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map(
        ({ id, name, arguments: written }): ResponseInputItem => ({ type: 'function_call', call_id: id, name, arguments: written }),
      );
      return message.content === '' && calls.length > 0 ? calls : [{ role: 'assistant', content: message.content }, ...calls];
    }
  }
}

function toolParam({ name, description, parameters }: ToolDefinition): FunctionTool {
  // Left out it is true, and most of our schemas would be refused.
  return { type: 'function', name, description, parameters, strict: false };
}

function parameters({ temperature, effort, max_output_tokens }: NonNullable<ModelRequest['choice']>) {
  return {
    ...(temperature != null && { temperature }),
    ...(effort != null && { reasoning: { effort } }),
    ...(max_output_tokens != null && { max_output_tokens }),
  };
}

const offered = endOffering((tools) => ({ tools: tools.map(toolParam), tool_choice: 'auto' }));

/** Throws when a tool's parameters cannot be written as JSON. */
export function responseBody(model: string, request: ModelRequest): PassingBody | StreamedBody {
  const write = (asked: ModelRequest, base64: Base64Of): ResponseCreateParamsStreaming => ({
    model,
    instructions: asked.system,
    input: withBeside(asked).flatMap((message) => inputItems(message, base64)),
    stream: true,
    store: false,
    ...(asked.choice && parameters(asked.choice)),
  });
  return writtenBody(request, write, offered(request.tools));
}
