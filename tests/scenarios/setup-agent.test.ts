/** An agent that has a file and nothing else configures an app to the end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, createOperator, spoken } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { createAgent, fetchFile, openSession, tokenIn } from '../support/setup-agent.ts';
import { SETUP_WORK, type StatusSteps, SUMMARY, stepsIn } from '../support/setup-work.ts';

/** An app that is not live, made over the console. */
async function emptyApp(t: TestContext) {
  const service = await startService(t, { env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea', plan: 'growth' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop', platform_hint: 'web' })).json as {
    app: { id: string };
    keys: { live: string; test: string };
  };
  return { service, operator, appId: made.app.id, keys: made.keys };
}

test('SETUP-33, SETUP-52: from the file to POST /complete: thirteen steps done, the app live, and an answer from what was configured', async (t) => {
  const { service, operator, appId, keys } = await emptyApp(t);
  const { code, session } = await openSession(operator, appId);
  const file = await fetchFile(service.baseUrl, code);
  assert.equal(file.status, 200, file.text);
  assert.match(String(file.headers['content-type']), /^text\/markdown/);
  const agent = createAgent(() => service.baseUrl, tokenIn(file.text));
  for (const { run } of SETUP_WORK) await run(agent, service.baseUrl);

  const status = await agent.get<StatusSteps & { go_live: { ok: boolean }[] }>('GET', '/status');
  assert.deepEqual(stepsIn(status, 'done').length, 12, JSON.stringify(status.steps));
  assert.deepEqual(
    status.go_live.map((check) => check.ok),
    [true, true, true, true],
  );
  // Its own smoke run does not cut the session off: the app goes live once the session is over.
  assert.equal((await createClient(service.baseUrl, keys.live).say('Hello')).status, 403);
  const { note, ...completed } = await agent.get<{ note: string }>('POST', '/complete', SUMMARY);
  assert.match(note, /No domain is allowed.*Nobody has had an answer in the app yet/);
  assert.deepEqual(completed, {
    ok: true,
    status: 'completed',
    token: 'revoked',
    live: true,
    version: 1,
  });
  const late = await agent.send('GET', '/status');
  assert.deepEqual([late.status, (late.json as { error: { code: string } }).error.code], [410, 'session_closed']);

  const shown = (await operator('GET', `/sessions/${session.id}`)).json as {
    session: StatusSteps & { status: string };
    events: { id: number }[];
  };
  assert.equal(shown.session.status, 'completed');
  assert.equal(stepsIn(shown.session, 'done').length, 13);
  assert.deepEqual(
    shown.events.map((event) => event.id),
    shown.events.map((_, index) => index + 1),
    'event ids rise by one',
  );
  const answer = await createClient(service.baseUrl, keys.live).say('How long can I send unopened tea back?');
  assert.match(spoken(answer.events), /60 days/);
  const config = (await createClient(service.baseUrl, keys.test).send('GET', '/v1/apps/config')).json as {
    config: { theme: { accent: string; logoAssetId: string }; copilot: { assistantName: string } };
  };
  assert.equal(config.config.theme.accent, '#0b6e4f');
  assert.match(config.config.theme.logoAssetId, /^ast_/);
  assert.equal(config.config.copilot.assistantName, 'Leaf');
});
