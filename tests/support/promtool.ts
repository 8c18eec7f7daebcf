/** Prometheus' own checker: whether it takes our metrics and rules, and which alerts fire when metrics go from one state to another. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { projectRoot } from './project-root.ts';
import { temporaryDir } from './temporary-dir.ts';

export const ALERTS = join(projectRoot(), 'deploy/prometheus/alerts.yaml');

/** Minutes: for so long all is as before. Then in each minute happens what happened between the two scrapes. */
const BEFORE_MIN = 5;
const AFTER_MIN = 15;
const COUNTS = /_(?:total|bucket|count|sum)(?:\{|$)/;

/** For the option `skip` of a test: why it cannot run, or false. */
export function promtoolMissing(): string | false {
  return spawnSync('promtool', ['--version']).error === undefined ? false : 'promtool is not installed (Debian: apt install prometheus)';
}

/** Runs it on files, which are JSON or text. @throws AssertionError with what it says when it does not end well */
export function promtool(words: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8', ...(input !== undefined && { input }) });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

export type Series = ReadonlyMap<string, number>;

/** A series of ours as Prometheus has it once it was scraped. */
function scraped(series: string): string {
  const of = 'instance="node:8787",job="assistant"';
  return series.endsWith('}') ? `${series.slice(0, -1)},${of}}` : `${series}{${of}}`;
}

function valuesOf(name: string, before: number | undefined, after: number | undefined): string {
  const values = Array.from({ length: BEFORE_MIN + AFTER_MIN }, (_, minute) => {
    const times = minute - BEFORE_MIN + 1;
    if (times <= 0) return before;
    return after !== undefined && COUNTS.test(name) ? (before ?? 0) + times * (after - (before ?? 0)) : after;
  });
  return values.map((value) => (value === undefined || Number.isNaN(value) ? '_' : value)).join(' ');
}

/** Checks that of all alerts exactly these fire. `up`: whether the node answers at all afterwards. */
export function requireFiring(t: TestContext, before: Series, after: Series, alerts: readonly string[], up = true): void {
  const names = new Set([...before.keys(), ...after.keys()]);
  const series = Array.from(names, (name) => ({ series: scraped(name), values: valuesOf(name, before.get(name), after.get(name)) }));
  const answers = { series: scraped('up'), values: valuesOf('up', 1, Number(up)) };
  const firing = {
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${BEFORE_MIN + AFTER_MIN - 3}m`,
    exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
  };
  const tests = [{ interval: '1m', input_series: [answers, ...series], promql_expr_test: [firing] }];
  const file = join(temporaryDir(t), 'scenario.json');
  writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }));
  promtool(['test', 'rules', file]);
}
