/** Hono's `streamSSE` and OpenAI's own client: each token becomes an event. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import OpenAI from 'openai';

const openai = new OpenAI();
const app = new Hono();

app.post('/chat', async (c) => {
  const { message } = await c.req.json();
  const messages = [{ role: 'user', content: message }];
  const completion = await openai.chat.completions.create({ model: process.env.MODEL, messages, stream: true });
  return streamSSE(c, async (stream) => {
    for await (const chunk of completion) {
      const text = chunk.choices[0]?.delta?.content;
      if (text) await stream.writeSSE({ data: JSON.stringify({ text }) });
    }
    await stream.writeSSE({ data: '[DONE]' });
  });
});
app.get('/ready', (c) => c.text('ok'));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT) });
