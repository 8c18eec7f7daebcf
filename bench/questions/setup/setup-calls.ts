/** The calls that an agent of S1 goes round, with content that is new every time, and what makes an answer a wrong one. */
import type { TextSource } from '../../model/text.ts';

export interface Call {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the base of the setup interface. */
  readonly path: string;
  /** The body of the agent's `count`th call; none for a read. */
  body?(count: number, texts: TextSource): unknown;
  /** Why a 200 is not one, or undefined. Notes the events that it answered the ids of. */
  judge(answer: unknown, body: unknown, told: Map<number, string>): string | undefined;
}

/** Items of one request, and the keys that an agent comes back to: most writes change what is there. */
const EVENTS = 4;
const KNOWLEDGE_ITEMS = 2;
const KNOWLEDGE_KEYS = 20;
/** A page of documentation. */
const KNOWLEDGE_CHARS = 4_000;
const ACTIONS = 3;
const SCREENS = 5;
const ACCENTS = ['#0b6e4f', '#1f4e9e', '#8a1c4a', '#5a3d8f'];

function saved(answer: unknown): string | undefined {
  return (answer as { saved?: unknown }).saved === true ? undefined : 'not saved';
}

/** What is wrong with the answer to a batch, which has an outcome for every item; undefined: nothing. */
function allTaken(answer: unknown): string | undefined {
  return (answer as { failed?: unknown }).failed === 0 ? undefined : 'an item failed';
}

interface SentEvents {
  readonly events: readonly { readonly title: string }[];
}

function noteEvents(answer: unknown, body: unknown, told: Map<number, string>): string | undefined {
  const { ids } = answer as { ids?: readonly unknown[] };
  const { events } = body as SentEvents;
  if (ids?.length !== events.length) return 'not an id for every event';
  for (const [index, { title }] of events.entries()) {
    const id = ids[index];
    if (typeof id !== 'number' || told.has(id)) return 'an id that is none, or that another event has';
    told.set(id, title);
  }
  return undefined;
}

export const CALLS: readonly Call[] = [
  {
    name: 'POST /events',
    method: 'POST',
    path: '/events',
    body: (count, texts) => ({
      events: Array.from({ length: EVENTS }, (_, index) => ({
        step: 'discover',
        status: 'progress',
        title: `Read file ${count}.${index}`,
        detail: texts.question(),
        data: { files: count },
      })),
    }),
    judge: noteEvents,
  },
  {
    name: 'PUT /appearance',
    method: 'PUT',
    path: '/appearance',
    body: (count) => ({
      theme: { surface: '#ffffff', onSurface: '#111111', accent: ACCENTS[count % ACCENTS.length], onAccent: '#ffffff', radius: count % 17 },
      reason: 'The theme file says so.',
    }),
    judge: saved,
  },
  {
    name: 'PUT /experience',
    method: 'PUT',
    path: '/experience',
    body: (count, texts) => ({
      assistantName: `Leaf ${count}`,
      instructions: texts.document(1_000).text,
      guardrails: 'Always stay polite.\nNever give medical advice.',
      languages: ['en'],
      suggestions: ['How long can I send it back?'],
    }),
    judge: saved,
  },
  {
    name: 'POST /knowledge',
    method: 'POST',
    path: '/knowledge',
    body: (count, texts) => ({
      items: Array.from({ length: KNOWLEDGE_ITEMS }, (_, index) => {
        const { title, text } = texts.document(KNOWLEDGE_CHARS);
        return { external_key: `page-${(count + index) % KNOWLEDGE_KEYS}`, kind: 'text', title, content: text };
      }),
    }),
    judge: allTaken,
  },
  {
    name: 'POST /screens',
    method: 'POST',
    path: '/screens',
    body: (count) => ({
      screens: Array.from({ length: SCREENS }, (_, index) => ({
        name: `screen_${index}`,
        title: `Screen ${index}`,
        description: `Shows what there is to see, as of ${count}.`,
        params: { order_id: { type: 'string', required: true } },
      })),
    }),
    judge: (answer) => (typeof (answer as { planned?: unknown }).planned === 'number' ? undefined : 'no count of planned screens'),
  },
  {
    name: 'POST /actions',
    method: 'POST',
    path: '/actions',
    body: (count) => ({
      items: Array.from({ length: ACTIONS }, (_, index) => ({
        external_key: `action-${index}`,
        name: `search_${index}`,
        description: `Searches what is on sale, as of ${count}.`,
        method: 'GET',
        url_template: 'https://shop.example.com/api/search?q={{param.query}}',
        params: [{ name: 'query', description: 'Words to look for', required: true, type: 'string', example: 'tea' }],
      })),
    }),
    judge: allTaken,
  },
  {
    name: 'GET /status',
    method: 'GET',
    path: '/status',
    judge: (answer) => (Array.isArray((answer as { steps?: unknown }).steps) ? undefined : 'no steps'),
  },
];
