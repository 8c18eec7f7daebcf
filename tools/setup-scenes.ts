/** An app on its way to people, for pictures of the console: a setup session under way, proposals, actions, checks and a question. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createOperator } from '../tests/support/client.ts';
import { type RunningService, startService } from '../tests/support/service.ts';
import { agentOf, openSession } from '../tests/support/setup-agent.ts';
import { SETUP_WORK, SUMMARY } from '../tests/support/setup-work.ts';

export interface SetupShop {
  readonly service: RunningService;
  readonly appId: string;
  /** The agent ends its session, the app goes live, and another agent proposes changes. */
  goLive(): Promise<void>;
}

/** Calls of the agent that are made before the first picture. */
const WORK_SHOWN = 10;

/** A shop in whose setup session an agent is half way. */
export async function startSetupShop(t: TestContext): Promise<SetupShop> {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Corner', plan: 'growth' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  const agent = await agentOf(service.baseUrl, (await openSession(operator, app.id)).code);
  for (const { run } of SETUP_WORK.slice(0, WORK_SHOWN)) await run(agent, service.baseUrl);
  return {
    service,
    appId: app.id,
    async goLive() {
      for (const { run } of SETUP_WORK.slice(WORK_SHOWN)) await run(agent, service.baseUrl);
      await agent.get('POST', '/complete', SUMMARY);
      const next = await agentOf(service.baseUrl, (await openSession(operator, app.id, 'sync')).code);
      await next.get('POST', '/start', { tool: 'cursor', model: 'model-2', os: 'macos' });
      const theme = { surface: '#ffffff', onSurface: '#111111', accent: '#8a3ffc', onAccent: '#ffffff' };
      const propose = async (method: string, path: string, body: unknown) => {
        const answer = await next.send(method, path, body);
        assert.equal(answer.status, 202, answer.text);
      };
      const instructions = 'Helps with tea, orders, gifts and returns.';
      await propose('PUT', '/experience', { instructions, tone: 'Warm and brief.', reason: 'The shop sells gifts now, see src/gifts.' });
      await propose('PUT', '/appearance', { theme, reason: 'tokens.css has another accent' });
    },
  };
}
