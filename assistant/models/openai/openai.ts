/** OpenAI's two streams: chat completions, which many servers speak (vLLM, Ollama, llama.cpp, Azure), and Responses. */
import type { Model } from '../model.ts';
import { createUpstreamModel, type UpstreamModelOptions, type Wire } from '../stream/upstream-model.ts';
import { completionBody } from './chat-messages.ts';
import { CompletionDecoder } from './completion-decoder.ts';
import { responseBody } from './response-body.ts';
import { ResponseDecoder } from './response-decoder.ts';

const CHAT_COMPLETIONS: Wire = {
  path: '/chat/completions',
  keyHeader: 'authorization',
  body: completionBody,
  decoder: (started, apiKey) => new CompletionDecoder(started, apiKey),
};

const RESPONSES: Wire = {
  path: '/responses',
  keyHeader: 'authorization',
  body: responseBody,
  decoder: (started, apiKey) => new ResponseDecoder(started, apiKey),
};

export function createOpenAiModel(options: UpstreamModelOptions): Model {
  return createUpstreamModel(options, CHAT_COMPLETIONS);
}

export function createResponsesModel(options: UpstreamModelOptions): Model {
  return createUpstreamModel(options, RESPONSES);
}
