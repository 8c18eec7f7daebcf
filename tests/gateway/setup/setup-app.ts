/** Apps to be set up in the running program; the tests of a file share one, because a start takes its time. */
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { request } from 'undici';
import { setupRoutes } from '../../../gateway/setup/routes.ts';
import { type Answer, createClient, createOperator } from '../../support/client.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { AGENT, type Agent, agentOf, type OpenedSession, openSession } from '../../support/setup-agent.ts';
import type { StatusSteps } from '../../support/setup-work.ts';
import { FILE } from '../../support/whole-file.ts';

export interface SetupApp {
  readonly appId: string;
  readonly organisationId: string;
  readonly keys: { readonly live: string; readonly test: string };
  /** A request to `/console/api/apps/:app` + path, which has to succeed: its body. */
  console<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body>;
  open(kind?: 'setup' | 'sync'): Promise<OpenedSession>;
  /** The agent of a new session, before and after POST /start. */
  unstarted(kind?: 'setup' | 'sync'): Promise<Agent>;
  agent(kind?: 'setup' | 'sync'): Promise<Agent>;
  /** A build of the app sends its manifest, with these screens. */
  callIn(...screens: string[]): Promise<void>;
}

/** A line of the panel, as the console shows it. */
export interface Line {
  readonly id: number;
  readonly step: string;
  readonly status: string;
  readonly title: string | null;
  readonly detail: string | null;
  readonly data: unknown;
  readonly origin: string;
  readonly at: string;
}

/** GET /console/api/sessions/:id. */
export interface SessionView {
  readonly session: StatusSteps & {
    readonly status: string;
    readonly agent: unknown;
    readonly outcome: unknown;
    readonly opened_at: string;
    readonly expires_at: string;
    readonly closed_at: string | null;
  };
  readonly events: readonly Line[];
  readonly next: number | null;
}

/** A session of a new app that was started. */
export interface Started {
  readonly app: SetupApp;
  readonly id: string;
  readonly agent: Agent;
  view(query?: string): Promise<SessionView>;
  /** The state of a step, as the console shows it. */
  state(step: string): Promise<string | undefined>;
}

export interface SetupService {
  readonly service: RunningService;
  /** A request to `/console/api` + path. */
  operator(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A new app of a new organisation, not live, unless the settings say otherwise. */
  app(settings?: Readonly<Record<string, unknown>>): Promise<SetupApp>;
  started(): Promise<Started>;
  view(sessionId: string, query?: string): Promise<SessionView>;
}

/** Starts the program; it ends with the file's last test. */
export async function startSetup(env: Readonly<Record<string, string>> = {}): Promise<SetupService> {
  const service = await startService(FILE, { env: { DEMO: 'off', LOG_LEVEL: 'warn', ...env } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const done = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await operator(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as Body;
  };
  const setup: SetupService = {
    service,
    operator,
    async view(id, query = '') {
      const answer = await operator('GET', `/sessions/${id}${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as SessionView;
    },
    async started() {
      const app = await setup.app();
      const { session, code } = await app.open();
      const agent = await agentOf(service.baseUrl, code);
      await agent.get('POST', '/start', AGENT);
      const view: Started['view'] = (query) => setup.view(session.id, query);
      const state: Started['state'] = async (step) => (await view()).session.steps.find(({ id }) => id === step)?.state;
      return { app, id: session.id, agent, view, state };
    },
    async app(settings = {}) {
      const { org } = await done<{ org: { id: string } }>('POST', '/orgs', { name: 'Tea', plan: 'growth' });
      const made = await done<Pick<SetupApp, 'keys'> & { app: { id: string } }>('POST', `/orgs/${org.id}/apps`, {
        name: 'Tea',
        ...settings,
      });
      const appId = made.app.id;
      const open: SetupApp['open'] = (kind = 'setup') => openSession(operator, appId, kind);
      const unstarted: SetupApp['unstarted'] = async (kind) => agentOf(service.baseUrl, (await open(kind)).code);
      return {
        appId,
        organisationId: org.id,
        keys: made.keys,
        console: (method, path, body) => done(method, `/apps/${appId}${path}`, body),
        open,
        unstarted,
        async agent(kind) {
          const agent = await unstarted(kind);
          await agent.get('POST', '/start', AGENT);
          return agent;
        },
        async callIn(...screens) {
          const routes = screens.map((name) => ({ name, title: name }));
          await createClient(service.baseUrl, made.keys.test).register({ version: '1', actions: [], routes });
        },
      };
    },
  };
  return setup;
}

/** A request of the setup interface with these headers and no others. */
export async function bareCall(
  { service }: SetupService,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: Readable | null = null,
): Promise<Answer> {
  const answer = await request(`${service.baseUrl}/setup${path}`, { method: method as 'GET', headers, body });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

/** The endpoints below `/setup`, from the service's own table. */
export const ENDPOINTS: readonly { readonly method: string; readonly path: string; readonly takesJson: boolean }[] = setupRoutes.map(
  ({ method, path, body }) => ({ method, path: path.slice('/setup'.length), takesJson: body !== undefined }),
);

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** The answer is this refusal, in the error body's shape; `names`: what its message has to say. */
export function assertRefused(answer: Answer, status: number, code: string, names?: string | RegExp): ErrorBody {
  const { error } = (answer.json ?? {}) as { error?: ErrorBody };
  assert.deepEqual([answer.status, error?.code], [status, code], answer.text);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  const message = String(error?.message);
  assert.match(message, /\w{3}/);
  if (typeof names === 'string') assert.ok(message.includes(names), `"${message}" does not name ${names}`);
  else if (names !== undefined) assert.match(message, names);
  return error as ErrorBody;
}

/** Four colours that pass every contrast. */
export const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0b6e4f', onAccent: '#ffffff' } as const;

export function article(key: string, content = `About ${key}: we answer within two days.`) {
  return { external_key: key, kind: 'text', title: key, content };
}

export function httpAction(key: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    external_key: key,
    name: `find_${key}`,
    description: 'Finds what is asked for.',
    method: 'GET',
    url_template: 'https://shop.example.com/api/things?q={{param.query}}',
    params: [{ name: 'query', description: 'Words to look for', required: true, type: 'string', example: 'tea' }],
    ...more,
  };
}

export function screen(name: string, title = 'Orders') {
  return { name, title, description: 'Lists what was ordered.' };
}
