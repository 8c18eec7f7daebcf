/** Of npm run measure:console: a setup session with many lines, and a live panel over an hour's worth of them, played fast. */
import type { CDPSession, Page } from 'playwright-core';
import type { RunningService } from '../tests/support/service.ts';
import { AGENT, agentOf, type Operator, openSession } from '../tests/support/setup-agent.ts';

/** Lines of a long session. */
const LINES = 500;
/** A busy agent writes a line each four seconds: so many in an hour. */
const LINES_IN_AN_HOUR = 900;
const LINES_AT_ONCE = 50;
const ROUNDS = 7;

interface Measured {
  readonly page: Page;
  readonly service: RunningService;
  readonly operator: Operator;
  readonly heap: () => Promise<string>;
  readonly print: (...columns: readonly string[]) => void;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Milliseconds from a press of what has this text until a frame after `there` matches. */
function press(page: Page, text: string, there: string): Promise<number> {
  return page.evaluate(
    async ([label, selector]) => {
      const all = [...document.querySelectorAll<HTMLElement>('main button, main a, main label')];
      const target = all.find(({ textContent }) => textContent?.trim() === label);
      if (target === undefined) throw new Error(`nothing is called ${label}`);
      const from = performance.now();
      target.click();
      while (document.querySelector(selector) === null) await new Promise((resolve) => requestAnimationFrame(resolve));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - from;
    },
    [text, there] as const,
  );
}

export async function measureSession({ page, service, operator, heap, print }: Measured): Promise<void> {
  const { org } = (await operator('POST', '/orgs', { name: 'Long' })).json as { org: { id: string } };
  const { app } = (await operator('POST', `/orgs/${org.id}/apps`, { name: 'Long' })).json as { app: { id: string } };
  const agent = await agentOf(service.baseUrl, (await openSession(operator, app.id)).code);
  await agent.get('POST', '/start', AGENT);
  let written = 0;
  const write = async () => {
    const events = Array.from({ length: LINES_AT_ONCE }, (_, n) => ({
      ...{ step: 'discover', status: 'progress', title: `Read file ${written + n}`, detail: `src/part-${n}.ts, 120 lines` },
    }));
    await agent.get('POST', '/events', events);
    written += LINES_AT_ONCE;
    await page.getByText(`Read file ${written - 1}`, { exact: true }).waitFor();
  };
  await page.goto(`${service.baseUrl}/console/apps/${app.id}/setup?view=time`);
  await page.getByText('following', { exact: true }).waitFor();
  const empty = await heap();
  while (written < LINES) await write();
  const [byStep, byTime]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    byStep.push(await press(page, 'By step', '[aria-label="Steps"]'));
    byTime.push(await press(page, 'By time', '[aria-label="All lines"] .setup-line'));
  }
  print(`a session of ${LINES} lines: by step, by time`, `${median(byStep).toFixed(0)} ms`, `${median(byTime).toFixed(0)} ms`);
  const full = await heap();
  while (written < LINES_IN_AN_HOUR) await write();
  print(
    `memory of its live page: at first, ${LINES} lines, an hour (${LINES_IN_AN_HOUR} lines)`,
    `${empty} MB, ${full} MB`,
    `${await heap()} MB`,
  );
}

/** Megabytes of JavaScript objects that are still in use. */
export async function heapMegabytes(cdp: CDPSession): Promise<string> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  return ((metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6).toFixed(1);
}

/** Milliseconds from a choice above the list of conversations until what it keeps is drawn; `rows` says how many, at least. */
export function choose(page: Page, label: string, value: string, rows: number): Promise<number> {
  return page.evaluate(
    async ([name, option, least]) => {
      const select = document.querySelector<HTMLSelectElement>(`main select[aria-label="${name}"]`);
      if (select === null) throw new Error(`no choice ${name}`);
      const from = performance.now();
      select.value = option;
      select.dispatchEvent(new Event('change', { bubbles: true }));
      for (;;) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        const isChosen = location.search.includes(option) && document.querySelector('main [aria-busy="true"]') === null;
        const drawn = document.querySelectorAll('main tbody tr').length;
        const isOver = least === 0 ? document.querySelector('main .card-empty')?.textContent === 'None is like that.' : drawn >= least;
        if (isChosen && isOver) return performance.now() - from;
      }
    },
    [label, value, rows] as const,
  );
}
