/** Live apps with a sync session on them: what the session proposes, and a person's word on it. */
import assert from 'node:assert/strict';
import type { Answer } from '../../support/client.ts';
import { AGENT, type Agent, agentOf, openSession, PNG } from '../../support/setup-agent.ts';
import { article, httpAction, type SetupApp, type SetupService, screen, THEME } from './setup-app.ts';

export interface Proposed {
  readonly proposed: boolean;
  readonly proposal_id: string;
  readonly kind: string;
  readonly summary: string;
  readonly note: string;
  readonly replaces?: readonly string[];
  readonly rejected_before?: { readonly id: string; readonly reason: string | null };
  readonly results?: readonly {
    readonly external_key: string;
    readonly ok: boolean;
    readonly op?: string;
    readonly name?: string | null;
    readonly needs_key?: boolean;
    readonly error?: string;
  }[];
  readonly warnings?: readonly { readonly check: string }[];
}

export interface Listed {
  readonly id: string;
  readonly app_id: string;
  readonly session_id: string;
  readonly kind: string;
  readonly summary: string;
  readonly status: string;
  readonly reason: string | null;
  readonly replaced_by: string | null;
  readonly bytes: number;
  readonly created_at: string;
  readonly decided_at: string | null;
}

export const NEW_THEME = { ...THEME, accent: '#7a1fa2' };
export const KINDS = ['appearance', 'logo', 'experience', 'knowledge', 'actions', 'screens'] as const;
export type Kind = (typeof KINDS)[number];

/** A live app with something configured, and a sync session on it. */
export async function liveApp(setup: SetupService): Promise<{ app: SetupApp; agent: Agent; sessionId: string }> {
  const app = await setup.app();
  await app.console('PUT', '/appearance', { theme: THEME });
  await app.console('PUT', '/experience', { assistantName: 'Leaf' });
  await app.console('POST', '/knowledge', { items: [article('returns')] });
  await app.console('POST', '/actions', { items: [httpAction('search')] });
  await app.console('POST', '/screens', { screens: [screen('orders')] });
  await app.console('POST', '/go-live');
  return { app, ...(await liveSession(setup, app)) };
}

/** A sync session on a live app; the one before it ends. */
export async function liveSession(setup: SetupService, app: SetupApp): Promise<{ agent: Agent; sessionId: string }> {
  const { session, code } = await openSession(setup.operator, app.appId, 'sync');
  const agent = await agentOf(setup.service.baseUrl, code);
  await agent.get('POST', '/start', AGENT);
  return { agent, sessionId: session.id };
}

function write(agent: Agent, kind: Kind, content = 'Something new is said here.'): Promise<Answer> {
  switch (kind) {
    case 'appearance':
      return agent.send('PUT', '/appearance', { theme: NEW_THEME });
    case 'logo':
      return agent.logo(PNG, 'image/png');
    case 'experience':
      return agent.send('PUT', '/experience', { assistantName: 'Twig', tone: 'Calm.' });
    case 'knowledge':
      return agent.send('POST', '/knowledge', { items: [article('returns', content), article('delivery', content)] });
    case 'actions':
      return agent.send('POST', '/actions', { items: [httpAction('search', { description: content })] });
    case 'screens':
      return agent.send('POST', '/screens', { screens: [screen('cart', 'Cart')], archive: [{ name: 'orders' }] });
  }
}

/** The write, which has to be proposed. */
export async function propose(agent: Agent, kind: Kind, content?: string): Promise<Proposed> {
  const answer = await write(agent, kind, content);
  assert.equal(answer.status, 202, answer.text);
  return answer.json as Proposed;
}

/** What the app is made of, as an agent reads it. */
export async function configOf(agent: Agent): Promise<unknown> {
  return (await agent.get<{ config: unknown }>('GET', '/context')).config;
}

export async function listed(app: SetupApp): Promise<Listed[]> {
  return (await app.console<{ proposals: Listed[] }>('GET', '/proposals')).proposals;
}
