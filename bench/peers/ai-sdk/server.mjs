/** Vercel's AI SDK on `node:http`, as its guide for Node servers has it: `streamText` into the UI message stream. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { convertToModelMessages, streamText } from 'ai';

const provider = createOpenAICompatible({
  name: 'upstream',
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});

createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end('ok');
    return;
  }
  const { messages } = await json(request);
  const result = streamText({ model: provider(process.env.MODEL), messages: await convertToModelMessages(messages) });
  result.pipeUIMessageStreamToResponse(response);
}).listen(Number(process.env.PORT), '127.0.0.1');
