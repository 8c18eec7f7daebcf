/** An agent whose service is killed goes on from where it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOperator } from '../support/client.ts';
import { Mortal } from '../support/mortal.ts';
import { scaled } from '../support/scale.ts';
import type { RunningService } from '../support/service.ts';
import { type Agent, createAgent, fetchFile, type Operator, openSession, tokenIn } from '../support/setup-agent.ts';
import { SETUP_WORK, type StatusSteps, SUMMARY, stepsIn } from '../support/setup-work.ts';

const KILLS = scaled(100, 10);
/** A whole setup takes about this long; a kill comes somewhere within. */
const LIFE_MAX_MS = 600;

async function newApp(service: RunningService): Promise<{ operator: Operator; appId: string }> {
  const operator = createOperator(service.baseUrl, service.operatorToken);
  const { org } = (await operator('POST', '/orgs', { name: 'Tea', plan: 'growth' })).json as { org: { id: string } };
  const made = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Tea shop' })).json as { app: { id: string } };
  return { operator, appId: made.app.id };
}

/** A token, from a fresh code as often as an answer was lost. */
async function fetchToken(mortal: Mortal, sessionId: string): Promise<string> {
  return mortal.through(async ({ baseUrl, operatorToken }) => {
    const issued = (await createOperator(baseUrl, operatorToken)('POST', `/sessions/${sessionId}/code`)).json as { code: string };
    const file = await fetchFile(baseUrl, issued.code);
    assert.equal(file.status, 200, file.text);
    return tokenIn(file.text);
  });
}

async function shown(mortal: Mortal, sessionId: string) {
  return mortal.through(async ({ baseUrl, operatorToken }) => {
    const answer = await createOperator(baseUrl, operatorToken)('GET', `/sessions/${sessionId}?limit=1000`);
    return answer.json as { session: StatusSteps & { status: string }; events: { id: number; step: string; origin: string }[] };
  });
}

/** Steps that the calls so far must have closed, whatever was killed in between. */
const CLOSED_AFTER: Readonly<Record<string, readonly string[]>> = {
  start: ['waiting', 'connected'],
  'events discover': ['discover'],
  'events install': ['install'],
  'events identity': ['identity'],
  knowledge: ['appearance', 'experience', 'knowledge'],
  handshake: ['screens', 'verify'],
  smoke: ['test'],
};

async function setUp(mortal: Mortal, agent: Agent, check: (name: string) => Promise<void>): Promise<void> {
  for (const { name, run } of SETUP_WORK) {
    await mortal.through(({ baseUrl }) => run(agent, baseUrl));
    await check(name);
  }
}

test(`SETUP-8: kill -9 at ${KILLS} random moments loses no step and ticks none that nothing observed`, async (t) => {
  const mortal = new Mortal(t, { kills: KILLS, lifeMs: [5, LIFE_MAX_MS] });
  let setups = 0;
  while (mortal.kills < KILLS) {
    setups += 1;
    const { appId } = await mortal.through(newApp);
    const { session } = await mortal.through(({ baseUrl, operatorToken }) => openSession(createOperator(baseUrl, operatorToken), appId));
    const token = await fetchToken(mortal, session.id);
    let at = '';
    const agent = createAgent(() => at, token);
    const expected = new Set<string>();
    await setUp(
      mortal,
      {
        ...agent,
        send: async (...call) => {
          at = (await mortal.up()).baseUrl;
          return agent.send(...call);
        },
        get: async <Body>(method: string, path: string, body?: unknown) => {
          at = (await mortal.up()).baseUrl;
          return agent.get<Body>(method, path, body);
        },
        logo: async (...call) => {
          at = (await mortal.up()).baseUrl;
          return agent.logo(...call);
        },
      },
      async (name) => {
        for (const step of CLOSED_AFTER[name] ?? []) expected.add(step);
        const { session: panel } = await shown(mortal, session.id);
        const done = new Set(stepsIn(panel, 'done'));
        for (const step of expected) assert.ok(done.has(step), `${step} is done after ${name}: ${JSON.stringify(panel.steps)}`);
        if (!expected.has('verify')) assert.ok(!done.has('verify'), 'nothing has called in yet');
        if (!expected.has('test')) assert.ok(!done.has('test'), 'no smoke test has passed yet');
        assert.ok(!done.has('done'), 'the session is not completed yet');
      },
    );
    await mortal.through(async ({ baseUrl }) => {
      at = baseUrl;
      const answer = await agent.send('POST', '/complete', SUMMARY);
      // Completed, and the answer was lost.
      assert.ok(answer.status === 200 || answer.status === 410, answer.text);
    });
    const { session: panel, events } = await shown(mortal, session.id);
    assert.equal(panel.status, 'completed');
    assert.equal(stepsIn(panel, 'done').length, 13, JSON.stringify(panel.steps));
    assert.deepEqual(
      events.map((event) => event.id),
      events.map((_, index) => index + 1),
      'event ids have no gaps',
    );
  }
  mortal.rest();
  t.diagnostic(`${setups} setups, ${mortal.kills} kills`);
});
