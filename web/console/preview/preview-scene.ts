/** The scene of a widget that is looked at and not used: drawn by the real SDK from a configuration that nobody published yet. */

import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { WEB_SDK_NAME } from '../../../protocol/runtime/web-sdk.ts';
import { createAssistant } from '../../client/assistant.ts';
import { everywhere } from '../../client/platform/everywhere.ts';
import type { Fetch, FetchAnswer } from '../../client/surroundings.ts';
import { appearanceOf } from '../../sdk/appearance.ts';
import { asksOf } from '../../sdk/asks.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { type Scene, sceneOf } from '../../sdk/scene.ts';

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

function sampleService(configuration: () => object): Fetch {
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

/** Has the form of a key; nothing is asked with it. */
const KEY = 'rd_pk_test_preview00';
const LOCALE = 'en-GB';

export function previewScene(configuration: () => object, logo: () => Promise<Blob | undefined>): Scene {
  const assistant = createAssistant(
    {
      address: 'https://preview.invalid',
      key: KEY,
      sdk: WEB_SDK_NAME,
      resumes: false,
      abilities: { components: Object.keys(BLOCK_VIEWS), locale: LOCALE },
    },
    everywhere({ fetch: sampleService(configuration) }),
  );
  const nothing = () => undefined;
  return sceneOf(
    assistant,
    asksOf(assistant, new Map(), nothing, nothing),
    { locale: LOCALE, open: true },
    {
      appearance: () => appearanceOf(configuration()),
      draftName: 'console.preview',
      isInline: true,
      hasLauncher: true,
      logo,
      open: nothing,
      close: nothing,
    },
  );
}

let quiet: Scene | undefined;

/** One for all that is only looked at: nothing is asked of it, and it asks nothing. */
export function quietScene(): Scene {
  quiet ??= previewScene(
    () => ({}),
    () => Promise.resolve(undefined),
  );
  return quiet;
}
