/** CopilotKit's runtime on `node:http` with its built-in agent; threads are kept in memory, as by default. */
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { BuiltInAgent, CopilotRuntime, InMemoryAgentRunner } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const provider = createOpenAICompatible({
  name: 'upstream',
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
const runtime = new CopilotRuntime({
  agents: { default: new BuiltInAgent({ model: provider(process.env.MODEL) }) },
  runner: new InMemoryAgentRunner(),
});

createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' })).listen(Number(process.env.PORT), '127.0.0.1');
