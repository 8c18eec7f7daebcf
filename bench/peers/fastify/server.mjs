/** Fastify and OpenAI's own client: each token becomes an event. */
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import OpenAI from 'openai';

const openai = new OpenAI();
const app = Fastify();

async function* events(completion) {
  for await (const chunk of completion) {
    const text = chunk.choices[0]?.delta?.content;
    if (text) yield `data: ${JSON.stringify({ text })}\n\n`;
  }
  yield 'data: [DONE]\n\n';
}

const body = { type: 'object', required: ['message'], properties: { message: { type: 'string' } } };

app.post('/chat', { schema: { body } }, async (request, reply) => {
  const messages = [{ role: 'user', content: request.body.message }];
  const completion = await openai.chat.completions.create({ model: process.env.MODEL, messages, stream: true });
  return reply.type('text/event-stream').send(Readable.from(events(completion)));
});
app.get('/ready', async () => 'ok');

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
