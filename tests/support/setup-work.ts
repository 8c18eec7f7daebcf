/**
 * What a setup agent does for a small shop, call by call. Every call may be repeated: an agent that lost its connection
 * does just that, and must end up where it would have ended without.
 */
import assert from 'node:assert/strict';
import { request } from 'undici';
import { HANDSHAKE } from './client.ts';
import { AGENT, type Agent, PNG } from './setup-agent.ts';

export const MANIFEST = {
  version: '1',
  actions: [
    {
      name: 'get_order_status',
      description: 'Looks up where an order is. Call it when the person asks about an order.',
      params: { order_id: { type: 'string', description: 'Number of the order', required: true, enum: ['A-1042'] } },
    },
  ],
  routes: [{ name: 'orders', title: 'Your orders' }],
};

const KNOWLEDGE = [
  {
    external_key: 'returns',
    kind: 'text',
    title: 'Returns',
    content: '# Returns\n\nUnopened tea can be sent back within 60 days of delivery. We pay for the label and refund in five days.',
  },
  {
    external_key: 'shipping',
    kind: 'text',
    title: 'Shipping',
    content: '# Shipping\n\nParcels leave our warehouse in Lisbon every morning and take two to four working days within Europe.',
  },
  {
    external_key: 'brewing',
    kind: 'text',
    title: 'Brewing green tea',
    content: '# Brewing green tea\n\nGreen tea wants water of 75 degrees and two minutes. Boiling water makes it bitter.',
  },
];

export interface SetupCallOf {
  readonly name: string;
  run(agent: Agent, baseUrl: string): Promise<unknown>;
}

function event(step: string, title: string): SetupCallOf {
  return { name: `events ${step}`, run: (agent) => agent.get('POST', '/events', [{ step, status: 'done', title }]) };
}

/** The app's build calls in: its manifest arrives with the publishable test key. */
async function handshake(agent: Agent, baseUrl: string): Promise<void> {
  const { keys } = await agent.get<{ keys: { test: string } }>('GET', '/context');
  const answer = await request(`${baseUrl}/v1/apps/manifest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Service-Key': keys.test },
    body: JSON.stringify({ sdk: HANDSHAKE.sdk, manifest: MANIFEST }),
  });
  assert.equal(answer.statusCode, 200, await answer.body.text());
}

/** Everything between the file and POST /complete, in order. */
export const SETUP_WORK: readonly SetupCallOf[] = [
  {
    name: 'start',
    run: (agent) => agent.get('POST', '/start', { ...AGENT, detected: { platform: 'web', framework: 'react', locales: ['en'] } }),
  },
  { name: 'context', run: (agent) => agent.get('GET', '/context') },
  event('discover', 'Read 120 files'),
  event('install', 'Added the client'),
  event('identity', 'Signed the user id'),
  {
    name: 'appearance',
    run: (agent) =>
      agent.get('PUT', '/appearance', { theme: { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff' } }),
  },
  {
    name: 'logo',
    async run(agent) {
      const answer = await agent.logo(PNG, 'image/png');
      assert.equal(answer.status, 200, answer.text);
    },
  },
  {
    name: 'experience',
    run: (agent) =>
      agent.get('PUT', '/experience', {
        assistantName: 'Leaf',
        instructions: 'Helps with tea, orders and returns.',
        guardrails: 'Always stay polite.\nNever give medical advice.',
        languages: ['en'],
        suggestions: ['How long can I send tea back?', 'How hot should green tea be?'],
      }),
  },
  { name: 'knowledge', run: (agent) => agent.get('POST', '/knowledge', { items: KNOWLEDGE }) },
  {
    name: 'screens',
    run: (agent) =>
      agent.get('POST', '/screens', { screens: [{ name: 'orders', title: 'Your orders', description: 'Lists what was ordered.' }] }),
  },
  {
    name: 'actions',
    run: (agent) =>
      agent.get('POST', '/actions', {
        items: [
          {
            external_key: 'search',
            name: 'search_teas',
            description: 'Searches the teas on sale.',
            method: 'GET',
            url_template: 'https://shop.example.com/api/teas?q={{param.query}}',
            params: [{ name: 'query', description: 'Words to look for', required: true, type: 'string', example: 'sencha' }],
          },
        ],
      }),
  },
  { name: 'handshake', run: handshake },
  {
    name: 'smoke',
    async run(agent) {
      const run = await agent.get<{ passed: boolean }>('POST', '/smoke');
      assert.equal(run.passed, true, JSON.stringify(run));
    },
  },
];

export const SUMMARY = { summary: 'The shop is set up.', files_changed: ['main.ts'], human_todos: ['Look at the colours.'] };

export interface StatusSteps {
  readonly steps: readonly { readonly id: string; readonly state: string }[];
}

/** Ids of the steps that are in this state. */
export function stepsIn({ steps }: StatusSteps, state: string): string[] {
  return steps.filter((step) => step.state === state).map((step) => step.id);
}
