/** The worked requests of the setup file: each body is one that the server takes; every form of an item is seen once. */
import { CATALOG_VERSION, PROTOCOL_VERSION } from '../../../protocol/limits.ts';
import { DRAWN_COMPONENTS } from '../context/snippets.ts';
import type { WorkedRequest } from './shell.ts';

export const WORKED = {
  start: {
    method: 'POST',
    path: '/start',
    body: { tool: 'claude_code', model: 'name of your model', os: 'linux' },
  },
  events: {
    method: 'POST',
    path: '/events',
    body: {
      events: [
        { step: 'discover', status: 'done', title: 'Read the code', detail: 'Next.js 15.' },
        { step: 'install', status: 'started', title: 'Adding the client' },
      ],
      detected: { platform: 'web', framework: 'next', locales: ['en', 'de'], screens: 12, darkTheme: true },
    },
  },
  appearance: {
    method: 'PUT',
    path: '/appearance',
    body: {
      theme: { surface: '#ffffff', onSurface: '#1a1a1a', accent: '#0b57d0', onAccent: '#ffffff', radius: 12, style: 'soft' },
      themeDark: { surface: '#121212', onSurface: '#f2f2f2' },
      copilot: { launcherLabel: 'Ask us', composerHint: 'Ask about an order' },
      reason: 'src/styles/theme.css',
    },
  },
  experience: {
    method: 'PUT',
    path: '/experience',
    body: {
      assistantName: 'Ada',
      tone: 'Friendly and brief.',
      instructions: 'Help customers of the shop with orders, delivery and returns.',
      guardrails: 'Always name the page an answer comes from.\nNever promise a delivery date.',
      topics: ['medical advice'],
      languages: ['en', 'de'],
      welcomeTitle: 'How can we help?',
      welcomeBody: 'Orders, delivery, returns.',
      suggestions: ['How do I return something?', 'When will my order arrive?'],
      reason: 'README.md and the help pages',
    },
  },
  knowledge: {
    method: 'POST',
    path: '/knowledge',
    body: {
      items: [
        {
          external_key: 'help/returns',
          kind: 'text',
          title: 'Returns',
          content: '# Returns\n\nSend anything back within 30 days. The label is in the parcel.',
          reason: 'content/help/returns.md',
        },
        { external_key: 'site/delivery', kind: 'url', uri: 'https://www.example.com/delivery' },
      ],
    },
  },
  actions: {
    method: 'POST',
    path: '/actions',
    body: {
      items: [
        {
          external_key: 'api/search',
          name: 'search_products',
          description: 'Finds products. Call it when the person wants to buy.',
          method: 'GET',
          url_template: 'https://api.example.com/products?q={{param.words}}',
          params: [{ name: 'words', description: 'What to look for', required: true, example: 'red shoes' }],
          result_path: 'items',
          result_fields: ['name', 'price'],
          needs_key: { kind: 'header', name: 'X-Api-Key', note: 'The catalogue key, from the shop admin.' },
        },
        {
          external_key: 'api/cancel',
          name: 'cancel_order',
          description: 'Cancels an order. Call it when the person asks to.',
          method: 'POST',
          risk: 'write',
          confirm_template: 'Cancel order {order_id}?',
          url_template: 'https://api.example.com/orders/{{param.order_id}}/cancel',
          body_template: '{"reason": "{{param.reason}}"}',
          params: [{ name: 'order_id', required: true, example: 'A-1042' }, { name: 'reason' }],
          auth: 'user',
        },
      ],
    },
  },
  screens: {
    method: 'POST',
    path: '/screens',
    body: {
      screens: [
        {
          name: 'order_detail',
          title: 'Order',
          description: 'One order: its items and where it is.',
          params: { order_id: { type: 'string', required: true, fromActions: ['list_orders'] } },
          file: 'app/orders/[id]/page.tsx',
          deep_link: '/orders/{order_id}',
        },
      ],
      archive: [],
    },
  },
  complete: {
    method: 'POST',
    path: '/complete',
    body: {
      summary: '## Done\n\nThe assistant answers about orders and returns.',
      files_changed: ['src/assistant/client.ts'],
      human_todos: ['Enter the catalogue key of search_products in the console.'],
    },
  },
  fail: {
    method: 'POST',
    path: '/fail',
    body: { reason: 'The app does not build: a package is gone.', step: 'install' },
  },
} as const satisfies Readonly<Record<string, WorkedRequest>>;

/** POST /v1/apps/manifest of the runtime interface. */
export const WORKED_MANIFEST: WorkedRequest = {
  method: 'POST',
  path: '/v1/apps/manifest',
  body: {
    sdk: 'web/1.0.0',
    manifest: {
      version: '1',
      actions: [{ name: 'list_orders', description: 'Lists the orders of the person.', params: {} }],
      routes: [{ name: 'order_detail', title: 'Order', params: { order_id: { type: 'string', required: true } } }],
    },
  },
};

/** POST /v1/chat of the runtime interface. */
export const WORKED_CHAT: WorkedRequest = {
  method: 'POST',
  path: '/v1/chat',
  body: {
    message: { text: 'How do I return something?' },
    client: { protocol: PROTOCOL_VERSION, sdk: 'web/1.0.0', catalog_version: CATALOG_VERSION, components: DRAWN_COMPONENTS },
  },
};
