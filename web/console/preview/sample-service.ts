/** What the preview's widget speaks to: nobody. It gets the configuration that is looked at, and to every question the same short answer. */
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import type { Fetch, FetchAnswer } from '../../client/surroundings.ts';

const QUESTION = 'Where is my order?';

const WORDS = 'It left our warehouse **yesterday** and arrives on Friday. You can [follow it](https://www.example.com) on the way.';
const POINTS = { title: 'On its way', points: [{ text: 'Packed on Tuesday.' }, { text: 'With the carrier since Wednesday.' }] };

export const SAMPLE_QUESTION = QUESTION;

function eventsOf(n: number): readonly StreamEvent[] {
  const words = { index: 0, id: `blk_words${n}`, block_type: 'text' };
  const points = { index: 1, id: `blk_points${n}`, block_type: 'key_points' };
  return [
    { type: 'turn.start', conversation_id: 'cnv_preview', message_id: `msg_${n}`, model: 'sample', request_id: 'preview' },
    { type: 'block.start', ...words },
    { type: 'block.delta', index: 0, text_delta: WORDS },
    { type: 'block.ready', index: 0, block: { ...words, revision: 1, body: { md: WORDS } } },
    { type: 'block.start', ...points },
    { type: 'block.ready', index: 1, block: { ...points, revision: 1, body: POINTS } },
    { type: 'turn.end', status: 'completed', billable: false },
  ] as readonly StreamEvent[];
}

function answer(status: number, body: string, type = 'application/json'): FetchAnswer {
  return new Response(body, { status, headers: { 'Content-Type': type } });
}

export function sampleService(configuration: () => object): Fetch {
  let asked = 0;
  return async (address, { method }) => {
    const { pathname } = new URL(address);
    if (pathname === '/v1/apps/config') {
      const config = { channel: 'draft', version: null, updated_at: null, available: true, config: configuration() };
      return answer(200, JSON.stringify(config));
    }
    if (pathname === '/v1/chat' && method === 'POST') {
      asked += 1;
      const frames = eventsOf(asked).map((event, seq) => renderEvent(seq, event));
      return answer(200, `: open\n\n${frames.join('')}`, 'text/event-stream');
    }
    return answer(200, '{}');
  };
}
