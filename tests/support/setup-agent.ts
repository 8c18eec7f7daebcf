/** A setup agent as small as it can be: a file fetched by its code, and calls with the token that was in it. */
import assert from 'node:assert/strict';
import { FormData, request } from 'undici';
import type { Answer, createOperator } from './client.ts';

export type Operator = ReturnType<typeof createOperator>;

export interface OpenedSession {
  readonly session: { readonly id: string; readonly status: string };
  readonly code: string;
  readonly file_url: string;
  readonly command: string;
}

export interface Agent {
  readonly token: string;
  /** A call of the setup interface with the token; `path` as in `/start`. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The same, which has to answer 200. */
  get<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body>;
  logo(bytes: Uint8Array, type: string): Promise<Answer>;
}

export const AGENT = { tool: 'claude_code', model: 'model-1', os: 'linux' } as const;

/** A PNG of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export async function openSession(operator: Operator, appId: string, kind: 'setup' | 'sync' = 'setup'): Promise<OpenedSession> {
  const answer = await operator('POST', `/apps/${appId}/sessions`, { kind });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as OpenedSession;
}

/** GET /file, without a token. */
export async function fetchFile(baseUrl: string, code: string): Promise<Answer> {
  const answer = await request(`${baseUrl}/setup/file?code=${code}`);
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

/** The token in a setup file. */
export function tokenIn(file: string): string {
  const tokens = new Set(file.match(/rd_st_[0-9a-f]{24}/g));
  assert.equal(tokens.size, 1, file);
  return [...tokens][0] as string;
}

/** `baseUrl` is asked anew for every call: the service may come back at another port. */
export function createAgent(baseUrl: () => string, token: string): Agent {
  const agent: Agent = {
    token,
    async send(method, path, body, more = {}) {
      const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const answer = await request(`${baseUrl()}/setup${path}`, {
        method: method as 'GET',
        headers: { Authorization: `Bearer ${token}`, ...type, ...more },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
    },
    async get<Body>(method: string, path: string, body?: unknown) {
      const answer = await agent.send(method, path, body);
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json as Body;
    },
    async logo(bytes, type) {
      const form = new FormData();
      form.append('file', new Blob([Buffer.from(bytes)], { type }), 'logo');
      const answer = await request(`${baseUrl()}/setup/logo`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: form,
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
    },
  };
  return agent;
}

/** Code → agent, as the first one who fetches the file. */
export async function agentOf(baseUrl: string, code: string): Promise<Agent> {
  const file = await fetchFile(baseUrl, code);
  assert.equal(file.status, 200, file.text);
  return createAgent(() => baseUrl, tokenIn(file.text));
}
