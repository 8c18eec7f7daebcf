/** Anthropic's Messages stream. */
import type { Model } from '../model.ts';
import { createUpstreamModel, type UpstreamModelOptions, type Wire } from '../stream/upstream-model.ts';
import { messagesBody } from './message-body.ts';
import { MessageDecoder } from './message-decoder.ts';

const MESSAGES: Wire = {
  path: '/v1/messages',
  keyHeader: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  body: messagesBody,
  decoder: (started, apiKey) => new MessageDecoder(started, apiKey),
};

export function createAnthropicModel(options: UpstreamModelOptions): Model {
  return createUpstreamModel(options, MESSAGES);
}
