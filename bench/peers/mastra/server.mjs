/** Mastra's server: an agent behind the routes that its Hono adapter registers. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { Hono } from 'hono';

const provider = createOpenAICompatible({
  name: 'upstream',
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
const agent = new Agent({
  id: 'assistant',
  name: 'assistant',
  instructions: 'You are a helpful assistant.',
  model: provider(process.env.MODEL),
});
const app = new Hono();
await new MastraServer({ app, mastra: new Mastra({ agents: { assistant: agent }, logger: false }), prefix: '/api' }).init();

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) });
