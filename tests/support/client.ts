/** A client SDK as small as it can be: sends requests of the runtime and console interfaces and reads event streams. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';

export interface StreamedEvent {
  readonly type: string;
  readonly v: number;
  readonly seq: number;
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface StreamAnswer extends Answer {
  readonly events: readonly StreamedEvent[];
}

export const DEVICE = 'd'.repeat(32);

export const HANDSHAKE = {
  protocol: 1,
  sdk: 'web/0.50.0',
  catalog_version: '2026-11.a',
  components: ['text', 'key_points', 'quick_replies', 'key_value', 'confirm_card', 'choice', 'form'],
} as const;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Events of a whole stream; comments are skipped, and `id:` must be the event's seq. */
export function parseEvents(text: string): StreamedEvent[] {
  return text.split('\n\n').flatMap((frame) => {
    const lines = frame.split('\n');
    const data = lines.find((line) => line.startsWith('data: '));
    if (data === undefined) return [];
    const event = JSON.parse(data.slice('data: '.length)) as StreamedEvent;
    // A stream that waits has pings without an id.
    if (event.type === 'ping' && !frame.includes('id: ')) return [event];
    assert.equal(
      lines.find((line) => line.startsWith('id: ')),
      `id: ${event.seq}`,
      'the frame id is the seq of its event',
    );
    assert.equal(
      lines.find((line) => line.startsWith('event: ')),
      `event: ${event.type}`,
      'the frame names its event',
    );
    return [event];
  });
}

export interface Client {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON request; `body` undefined sends none. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** POST /v1/chat with the usual handshake; fields of `body` win. Waits for the whole stream. */
  chat(body: Record<string, unknown>, headers?: Record<string, string>): Promise<StreamAnswer>;
  /** A message in a new conversation, or in the one given. */
  say(text: string, more?: Record<string, unknown>): Promise<StreamAnswer>;
  /** Posts the manifest, which has to be taken; returns its hash. */
  register(manifest: object): Promise<string>;
}

export function createClient(baseUrl: string, key: string, deviceId: string = DEVICE): Client {
  const headers = { 'X-Service-Key': key, ...(deviceId === '' ? {} : { 'X-Service-Device': deviceId }) };
  const client: Client = {
    baseUrl,
    headers,
    async send(method, path, body, more = {}) {
      const answer = await request(`${baseUrl}${path}`, {
        method: method as 'GET',
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...more },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
    },
    async chat(body, more = {}) {
      const answer = await client.send('POST', '/v1/chat', { turn_id: randomUUID(), client: HANDSHAKE, ...body }, more);
      const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
      return { ...answer, events: isStream ? parseEvents(answer.text) : [] };
    },
    say: (text, more = {}) => client.chat({ message: { text }, ...more }),
    async register(manifest) {
      const { status, json, text } = await client.send('POST', '/v1/apps/manifest', { manifest, sdk: HANDSHAKE.sdk });
      assert.equal(status, 200, text);
      return (json as { manifest_hash: string }).manifest_hash;
    },
  };
  return client;
}

/** The operator's side: bearer token on every request. */
export function createOperator(baseUrl: string, token: string) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await request(`${baseUrl}/console/api${path}`, {
      method: method as 'GET',
      headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
  };
}

export interface TestApp {
  readonly appId: string;
  readonly organisationId: string;
  readonly liveKey: string;
  readonly testKey: string;
}

/** A fresh organisation with a live app of its own, without knowledge, made over the console interface. */
export async function createTestApp(baseUrl: string, operatorToken: string, settings: Record<string, unknown> = {}): Promise<TestApp> {
  const operator = createOperator(baseUrl, operatorToken);
  const made = async (path: string, body?: unknown) => {
    const answer = await operator('POST', path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer.json as { org: { id: string }; app: { id: string }; keys: { live: string; test: string } };
  };
  const { org } = await made('/orgs', { name: 'Test', plan: 'scale' });
  const { app, keys } = await made(`/orgs/${org.id}/apps`, {
    name: 'Test app',
    messages_per_minute: 10_000,
    messages_per_day: 1_000_000,
    // All tests come from one address.
    messages_per_minute_per_address: 0,
    messages_per_day_per_address: 0,
    ...settings,
  });
  await made(`/apps/${app.id}/go-live`);
  return { appId: app.id, organisationId: org.id, liveKey: keys.live, testKey: keys.test };
}

/** Types of events in order, with runs of `block.delta` shown once. */
export function outline(events: readonly StreamedEvent[]): string[] {
  return events.map((event) => event.type).filter((type, at, all) => type !== 'ping' && (type !== 'block.delta' || all[at - 1] !== type));
}

/** All text deltas joined. */
export function spoken(events: readonly StreamedEvent[]): string {
  return events
    .filter((event) => event.type === 'block.delta')
    .map((event) => String(event.text_delta))
    .join('');
}
