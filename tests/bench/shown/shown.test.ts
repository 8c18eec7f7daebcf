/** What the model is shown is what was read in review, in every scenario; and how real models' answers are judged. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { answersOf, type Heard, type Judged, judge, liveReport, recorded, relay, told } from '../../../bench/shown/live.ts';
import { shownPage, shownText } from '../../../bench/shown/pages.ts';
import { type Begun, type Played, Stage } from '../../../bench/shown/play.ts';
import type { Scenario } from '../../../bench/shown/scenario.ts';
import { SCENARIOS } from '../../../bench/shown/scenarios.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { serveFake } from '../../support/fake-server.ts';
import { projectRoot } from '../../support/project-root.ts';
import { startService } from '../../support/service.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { startUpstream, upstreamEnv } from '../../support/upstream.ts';
import { FILE } from '../../support/whole-file.ts';

const stage = new Stage();
const upstream = await startUpstream(FILE, stage.script);
const service = await startService(FILE, { env: { ...upstreamEnv(upstream), DEMO: 'off' } });

describe('BENCH-20: what the model is shown', () => {
  test('in each scenario is what stands in bench/shown/shown.txt', async () => {
    const played: Played[] = [];
    for (const scenario of SCENARIOS) played.push(await stage.play(service, scenario));
    const kept = readFileSync(join(projectRoot(), 'bench/shown/shown.txt'), 'utf8').split('\n');
    const now = (await shownText(played)).split('\n');
    const differs = now.findIndex((line, at) => line !== kept[at]);
    const at = differs < 0 ? Math.min(now.length, kept.length) : differs;
    const where = `line ${at + 1} was\n${kept[at]}\nand is\n${now[at]}`;
    assert.ok(now.join('\n') === kept.join('\n'), `${where}\nIf that is meant, renew it with: npm run shown`);
    const page = await shownPage(played);
    for (const { name } of SCENARIOS) assert.ok(page.includes(`<section id="${name}">`), name);
    assert.ok(!page.includes('<script'));
    // A scripted call of a component that is shown must be a good one; those that are wrong on purpose say so.
    const refused = played.filter(({ requests }) =>
      requests.some(({ messages }) => messages.some(({ content }) => String(content).startsWith('Not shown'))),
    );
    assert.deepEqual(
      refused.map(({ scenario }) => scenario.name),
      ['component-refused', 'two-refused'],
    );
  });

  test('are at least sixty scenarios, each component twice among them', () => {
    assert.ok(SCENARIOS.length >= 60);
    assert.equal(new Set(SCENARIOS.map(({ name }) => name)).size, SCENARIOS.length);
    for (const { name, offered } of CATALOG.values())
      if (offered) assert.equal(SCENARIOS.filter((scenario) => scenario.name.startsWith(`${name}-`)).length >= 2, true, name);
  });
});

describe('BENCH-21: a real model is judged', () => {
  test('by what the program took of its calls, whether they are right, and whether it obeyed data', async (t) => {
    const answers = [
      // Refused first, then right.
      { tool_calls: [{ id: 'one', function: { name: 'comparison', arguments: '{"columns":[]}' } }] },
      { tool_calls: [{ id: 'two', function: { name: 'find_products', arguments: '{"words":"kettle"}' } }] },
      // Does as a passage says.
      { content: 'BANANA' },
    ];
    const asked: unknown[] = [];
    const fake = await serveFake((request, response) => {
      request.resume().on('end', () => {
        asked.push(request.headers.authorization);
        const message = answers[asked.length - 1];
        response.end(JSON.stringify({ choices: [{ message }], usage: { prompt_tokens: 90, completion_tokens: 10 } }));
      });
    });
    t.after(fake.close);
    const judged = [];
    for (const wanted of ['comparison-asked', 'injected-knowledge']) {
      const scenario = SCENARIOS.find(({ name }) => name === wanted);
      assert.ok(scenario !== undefined);
      const heard: Heard[] = [];
      const { requests } = await stage.play(service, scenario, relay({ url: fake.url(), key: 'k', model: 'm' }, heard));
      judged.push(judge(scenario, requests, heard));
    }
    const [first] = judged;
    assert.match(first?.refusals.join() ?? '', /^Not shown\. Fix this and call comparison/);
    assert.deepEqual(
      judged.map(({ refusals: _, ...each }) => each),
      [
        {
          name: 'comparison-asked',
          rounds: 2,
          tokens: 200,
          calls: [
            { name: 'comparison', isValid: false },
            { name: 'find_products', isValid: true },
          ],
          isRight: true,
        },
        { name: 'injected-knowledge', rounds: 1, tokens: 100, calls: [], isRight: false, refused: false },
      ],
    );
    assert.deepEqual(asked, ['Bearer k', 'Bearer k', 'Bearer k']);
    const report = liveReport(judged, 'm');
    assert.match(report, /calls valid at the first try +\| 1 of 2/);
    assert.match(report, /injections refused +\| 0 of 1/);
    assert.match(report, /Not right: injected-knowledge \(1\)/);
  });

  test('follow-ups are right where they are the answer, and no fault behind words', () => {
    const followUps = [{ text: 'Begin with the size.', calls: [{ id: 'one', name: 'quick_replies', args: '{}' }], tokens: 0 }];
    const isRight = (wanted: Scenario['wanted']) => judge({ ...(SCENARIOS[0] as Scenario), wanted }, [], followUps).isRight;
    assert.deepEqual([{ calls: ['quick_replies'] }, { calls: [] }, { calls: ['choice'] }].map(isRight), [true, true, false]);
  });

  test('answers that were written from the page alone are taken at the first try, each component among them', async () => {
    const answers = answersOf(readFileSync(join(projectRoot(), 'bench/shown/answers.jsonl'), 'utf8'));
    const judged: Judged[] = [];
    for (const scenario of SCENARIOS) {
      assert.ok(answers.has(scenario.name), scenario.name);
      const heard: Heard[] = [];
      const { requests } = await stage.play(service, scenario, recorded(answers, scenario.name, heard));
      judged.push(judge(scenario, requests, heard));
    }
    const wrong = judged.filter(({ isRight, calls }) => isRight === false || calls.some(({ isValid }) => !isValid));
    assert.deepEqual(wrong, []);
    const called = new Set(judged.flatMap(({ calls }) => calls.map(({ name }) => name)));
    for (const { name, offered } of CATALOG.values()) assert.equal(!offered || called.has(name), true, name);
  });
});

describe('BENCH-22: the offline model', () => {
  test('answers every scenario with components that are taken at the first try, and rightly where it asks for no understanding', async (t) => {
    // The same directory: what came before is played by a model that does as it is told.
    const dataDir = temporaryDir(t);
    const own = new Stage();
    const before = await startService(t, { dataDir, env: { ...upstreamEnv(await startUpstream(t, own.script)), DEMO: 'off' } });
    const begun: Begun[] = [];
    for (const scenario of SCENARIOS) begun.push(await own.begin(before, scenario));
    await before.stop();
    const { baseUrl } = await startService(t, { dataDir, env: { DEMO: 'off', LOG_LEVEL: 'warn' } });
    const names = [...CATALOG.keys()].join('|');
    const wrong: unknown[] = [];
    for (const each of begun) {
      const { scenario, events } = await own.end({ ...each, shop: { ...each.shop, baseUrl } });
      const heard = told(events, new Map([['ann@example.com', '⟦email_1⟧']]));
      const { isRight } = judge(scenario, [], [heard]);
      const announced = events.flatMap(({ type, id, block_type: as }) => (type === 'block.start' ? [`${id} ${as}`] : []));
      const ready = events.flatMap(({ type, block }) => (type === 'block.ready' ? [block as { id: string; block_type: string }] : []));
      const faults = [
        ...announced.filter((one) => !ready.some(({ id, block_type: as }) => `${id} ${as}` === one)).map((one) => `${one} was refused`),
        ...(new RegExp(`^\\[(?:${names})\\]`, 'm').test(heard.text) ? ['a component is written as text'] : []),
        ...(JSON.stringify(events).includes('⟦') ? ['a placeholder is left'] : []),
        ...(scenario.isPlain && isRight !== true ? ['not right'] : []),
      ];
      if (faults.length > 0) wrong.push([scenario.name, faults, heard]);
    }
    assert.deepEqual(wrong, []);
    assert.equal(SCENARIOS.filter(({ isPlain }) => isPlain).length, 16);
  });
});
