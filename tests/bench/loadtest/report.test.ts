import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { LiveView, sparkline } from '../../../bench/loadtest/live-view.ts';
import { readPlan } from '../../../bench/loadtest/options.ts';
import { type RunResult, reportOf } from '../../../bench/loadtest/report.ts';
import { reportHtml } from '../../../bench/loadtest/report-html.ts';
import { reportText } from '../../../bench/loadtest/report-text.ts';
import type { Point } from '../../../bench/loadtest/series.ts';
import { type EndedTurn, Tally } from '../../../bench/loadtest/tally.ts';
import { thinned } from '../../../bench/page/line-plot.ts';
import { roundUp } from '../../../bench/page/scale.ts';

const ARGS = ['--url', 'http://127.0.0.1:8787', '--key', 'rd_pk_test_abcdefghijklmnop', '--slo', 'first_delta=500,turn=5000'];
const plan = readPlan(ARGS) as NonNullable<ReturnType<typeof readPlan>>;

const turn = (more: Partial<EndedTurn>): EndedTurn => ({
  kind: 'new',
  requestId: 'loadtest-1',
  isRamp: false,
  taken: { first_event: 5, first_delta: 100, turn: 900 },
  failures: [],
  faults: [],
  hasRecovered: false,
  ...more,
});

function tallyOf(turns: readonly EndedTurn[]): Tally {
  const tally = new Tally(plan.slo);
  for (const each of turns) {
    tally.turnBegan();
    tally.turnEnded(each);
  }
  return tally;
}

const SERIES: readonly Point[] = [1, 2, 3].map((atS) => ({
  ...{ atS, seconds: 1, begun: 10, ended: 10, good: 9, failed: 1, open: 4, tokensPerS: 500 },
  ...{ firstDeltaP50Ms: 40, firstDeltaP99Ms: atS === 2 ? undefined : 90 },
}));

const resultWith = (tally: Tally, more: Partial<RunResult> = {}): RunResult => ({
  ...{
    plan,
    tally,
    series: SERIES,
    startedAt: new Date(0),
    seconds: 3,
    model: '<offline>',
    stoppedBy: undefined,
    cpuSeconds: 0.5,
    peakRssMb: 80,
  },
  ...more,
});

const many = (count: number, more: Partial<EndedTurn> = {}): EndedTurn[] => Array.from({ length: count }, () => turn(more));

describe('LOAD-5: goodput', () => {
  test('is of turns that were whole, without error and within the SLO; those of the ramp do not count', () => {
    const tally = tallyOf([
      ...many(5),
      turn({ taken: { first_delta: 501, turn: 900 } }),
      turn({ taken: { turn: 5_001 } }),
      turn({ failures: [{ code: '429 rate_limited', message: 'x' }] }),
      turn({ faults: [{ kind: 'seq.gap', seq: 7, problem: '6 is missing' }] }),
      ...many(20, { isRamp: true, taken: { turn: 100_000 } }),
    ]);
    const { goodput, times } = reportOf(resultWith(tally));
    assert.deepEqual([goodput.good, goodput.judged], [5, 9]);
    assert.equal(times.turn?.count, 7, 'a turn that went wrong has no time');
    assert.ok((times.turn?.max ?? 0) < 6_000);
  });

  test('visits that could not start are not good', () => {
    const tally = tallyOf(many(3));
    tally.notStarted('too many', false);
    tally.notStarted('too many in the ramp', true);
    assert.equal(reportOf(resultWith(tally)).goodput.share, 0.75);
  });

  test('a request beside the turns that failed is not good, but in the ramp', () => {
    const tally = tallyOf(many(3));
    tally.asideFailed({ code: 'history_lost', message: 'x' }, 'loadtest-1', false);
    tally.asideFailed({ code: 'history_lost', message: 'x' }, 'loadtest-2', true);
    assert.equal(reportOf(resultWith(tally)).goodput.share, 0.75);
  });
});

describe('LOAD-7: the exit code', () => {
  const codeOf = (tally: Tally, more: Partial<RunResult> = {}): number => reportOf(resultWith(tally, more)).verdict.exit_code;

  test('is 0 where all is well, and 1 where the goodput is missed by one turn', () => {
    assert.equal(codeOf(tallyOf(many(100))), 0);
    const slow = turn({ taken: { turn: 6_000 } });
    assert.equal(codeOf(tallyOf([...many(99), slow])), 0);
    const missed = reportOf(resultWith(tallyOf([...many(197), slow, slow, slow])));
    assert.equal(missed.verdict.exit_code, 1);
    assert.match(missed.verdict.words.join(), /goodput is 98\.5 %, and 99 % are asked for/);
  });

  test('is 1 where one stream of thousands was wrong', () => {
    const wrong = turn({ faults: [{ kind: 'end.missing', seq: 3, problem: 'x' }] });
    assert.equal(codeOf(tallyOf([...many(5_000), wrong])), 1);
  });

  test('is 1 where nothing was measured, and says which signal ended a run', () => {
    assert.equal(codeOf(tallyOf([])), 1);
    assert.equal(codeOf(tallyOf(many(5, { isRamp: true }))), 1);
    assert.equal(codeOf(tallyOf(many(100)), { stoppedBy: 'SIGINT' }), 130);
    assert.equal(codeOf(tallyOf(many(100)), { stoppedBy: 'SIGTERM' }), 143);
  });
});

describe('LOAD-8: the report', () => {
  const rich = tallyOf([
    ...many(100),
    turn({ failures: [{ code: '429 rate_limited', message: 'Too many <requests>.' }] }),
    turn({ faults: [{ kind: 'seq.gap', seq: 7, problem: '6 is missing' }] }),
    turn({ failures: [{ code: 'cut', message: 'x' }], hasRecovered: true }),
  ]);
  rich.pause(1_234, 'loadtest-9', 8);

  test('for the terminal names everything with an example and what to do', () => {
    const text = reportText(reportOf(resultWith(rich)));
    assert.match(text, /first delta +100 +100 /);
    assert.match(text, /1 × seq\.gap: events were lost.*\n +for example event 7: 6 is missing · request loadtest-1/);
    assert.match(text, /1 × 429 rate_limited: raise the limits of the app/);
    assert.match(text, /1 × cut: .*\n/);
    assert.match(text, /longest: 1234 ms before event 8 · request loadtest-9/);
    assert.match(text, /1 of them whole after re-attaching/);
  });

  test('for people stands alone: no script, nothing from elsewhere, every text escaped, light and dark', () => {
    const html = reportHtml(reportOf(resultWith(rich)));
    assert.doesNotMatch(html, /<script|<link|src=|url\(|@import/);
    assert.ok(html.includes('prefers-color-scheme:dark'));
    assert.ok(html.includes('Too many &lt;requests&gt;.') && html.includes('model &lt;offline&gt;'));
    assert.ok(html.split('<svg').length - 1 >= 5, 'the course of the run, and percentiles of each measure');
    assert.doesNotMatch(html, /NaN|undefined|Infinity/);
    assert.ok(!html.includes('abcdefghijklmnop'), 'a key is shown by its beginning');
  });

  test('of a run in which nothing was answered says why, without a table', () => {
    const tally = new Tally(plan.slo);
    tally.failure({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' }, 'loadtest-1');
    const report = reportOf(resultWith(tally, { series: [] }));
    const text = reportText(report);
    assert.match(text, /^No turn was answered: ECONNREFUSED/);
    assert.doesNotMatch(text, /p50|first delta/);
    assert.doesNotMatch(reportHtml(report), /<svg|NaN|undefined/);
  });

  test('marks the ramp in its plots over time, and ends with the command that repeats it, without the key', () => {
    const asked = readPlan([...ARGS, '--ramp', '2s', '--texts', "a b's.txt"]) as typeof plan;
    const report = reportOf(resultWith(rich, { plan: asked }));
    assert.equal(reportHtml(report).split('class="shade"').length - 1, 4);
    assert.doesNotMatch(reportHtml(reportOf(resultWith(rich))), /class="shade"/);
    const again = `Again: npm run loadtest -- --url http://127.0.0.1:8787 --key 'rd_pk_test_abc…' --slo first_delta=500,turn=5000 --ramp 2s --texts 'a b'\\''s.txt'`;
    assert.equal(reportText(report).trimEnd().split('\n').at(-1), again);
    assert.ok(reportHtml(report).includes('--ramp 2s --texts'));
  });

  test('tells p99.9 where there are 10,000 measurements', () => {
    const of = (count: number) => reportOf(resultWith(tallyOf(many(count)))).times.turn?.p999;
    assert.equal(of(9_999), undefined);
    assert.ok((of(10_000) ?? 0) > 0);
  });

  test('says so where the load tester itself was late', () => {
    const tally = tallyOf(many(10));
    tally.visitBegan('new', 500);
    assert.match(reportText(reportOf(resultWith(tally))), /This load tester itself sent visits 5\d\d(?:\.\d+)? ms late/);
    assert.match(reportText(reportOf(resultWith(tallyOf(many(10)), { cpuSeconds: 2.9 }))), /nearly all of its core/);
  });

  test('plots keep their peaks, and their axes end at round numbers', () => {
    const points = Array.from({ length: 5_000 }, (_, x) => ({ x, y: x === 1_234 ? 99 : 1 }));
    assert.equal(Math.max(...thinned(points).map(({ y }) => y)), 99);
    assert.equal(thinned(points).length, 400);
    assert.deepEqual([0, 0.3, 1, 7, 12, 201].map(roundUp), [1, 0.5, 1, 10, 20, 500]);
  });
});

describe('LOAD-8: the view while it runs', () => {
  const told = (isTTY: boolean): string => {
    const written: string[] = [];
    const view = new LiveView({ isTTY, columns: 70, write: (text) => written.push(text) }, tallyOf(many(3)), 30);
    view.say('what is asked');
    for (const point of SERIES) view.show(point);
    view.close();
    return written.join('');
  };

  test('is plain lines where nobody watches: no marks of a terminal, one in five seconds', () => {
    const text = told(false);
    assert.ok(!text.includes('\x1b'), text);
    assert.equal(text.split('\n').filter((line) => line.includes('first delta p50 40.0 ms p99 90.0 ms')).length, 1);
  });

  test('is drawn anew on a terminal, no line wider than it, and taken away at the end', () => {
    const text = told(true);
    assert.ok(
      text.split('\n').every((line) => stripVTControlCharacters(line).length < 70),
      text,
    );
    assert.ok(text.endsWith('\x1b[8A\x1b[J'));
    assert.equal(sparkline([0, 1, 2, 4]), '▁▃▅█');
    assert.equal(sparkline([0, 0]), '▁▁');
  });
});
