/** OpenAI's chat-completions stream, which many servers speak (OpenAI, vLLM, Ollama, llama.cpp). */
import type { Model } from '../model.ts';
import { createUpstreamModel, type UpstreamModelOptions, type Wire } from '../stream/upstream-model.ts';
import { completionBody } from './chat-messages.ts';
import { CompletionDecoder } from './completion-decoder.ts';

const CHAT_COMPLETIONS: Wire = {
  path: '/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body: completionBody,
  decoder: (started, apiKey) => new CompletionDecoder(started, apiKey),
};

export function createOpenAiModel(options: UpstreamModelOptions): Model {
  return createUpstreamModel(options, CHAT_COMPLETIONS);
}
