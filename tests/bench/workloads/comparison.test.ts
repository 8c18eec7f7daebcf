/** What the report says of differences, aims and peers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { summarize } from '../../../bench/report/report.ts';
import { reportOf } from '../../../bench/report/report-data.ts';
import { reportMarkdown } from '../../../bench/report/report-markdown.ts';
import { againstEarlier } from '../../../bench/workloads/against.ts';
import { aimsShown, missed } from '../../../bench/workloads/aims.ts';
import { behindOf } from '../../../bench/workloads/behind.ts';
import { verdictOf } from '../../../bench/workloads/comparison.ts';
import { workloadNamed } from '../../../bench/workloads/workloads.ts';
import { madeReport } from '../report/made-report.ts';

describe('BENCH-11: differences', () => {
  test('two servers differ when every round says so and the difference is larger than the spread', () => {
    const cases = [[1.1, 1.2, 1.05], [0.9, 0.8, 0.99], [0.9, 1.1, 1.2], [1.001, 1.002, 1.05], [1.3]];
    assert.deepEqual(cases.map(verdictOf), ['more', 'less', 'within the spread', 'within the spread', 'too few rounds to say']);
  });

  test('every figure of every workload stands beside the earlier build, and in words where they differ', () => {
    const against = againstEarlier(madeReport().outcomes);
    assert.ok(against !== undefined);
    const figures = ['CPU', 'first delta p50', 'first delta p99', 'whole turn p50', 'whole turn p99', 'peak memory'];
    for (const workload of ['W1', 'W3', 'W5']) {
      assert.deepEqual(
        against.table.rows.filter(([name]) => name === workload).map(([, figure]) => figure),
        figures,
      );
    }
    assert.match(against.words.join('\n'), /^W3: CPU 0\.\d\d × \(cheaper\)/m);
  });

  test('a build is not said to differ from itself, nor after too few rounds', () => {
    const { outcomes } = madeReport();
    const same = outcomes.filter(({ candidate }) => candidate === 'service').flatMap((now) => [now, { ...now, candidate: 'earlier' }]);
    assert.match(againstEarlier(same)?.words.join('\n') ?? '', /^No difference beyond the spread: W1, .*W5\.$/);
    assert.match(againstEarlier(madeReport(1).outcomes)?.words.join('\n') ?? '', /^Too few rounds .*: W1, .*W5\.$/);
    assert.equal(againstEarlier(outcomes.filter(({ candidate }) => candidate !== 'earlier')), undefined);
  });
});

describe('BENCH-12: what is behind', () => {
  test('an aim that is missed is told with the figure, which never rounds down to the aim', () => {
    const [summary] = summarize(madeReport().outcomes);
    assert.ok(summary !== undefined);
    const { aims } = workloadNamed('W1');
    assert.equal(aimsShown(aims), '≤ 1.3 ×');
    assert.deepEqual(missed(aims, { ...summary, candidate: 'service', ratio: 1.3004 }), [
      'W1, service: 1.3004 × the CPU of the relay; the aim is ≤ 1.3 ×.',
    ]);
    assert.deepEqual(missed(aims, { ...summary, ratio: 1.3 }), []);
    assert.deepEqual(missed(aims, { ...summary, ratio: undefined }), []);
  });

  test('aims, peers that do better, warnings and broken streams are told; aims are of the service alone', () => {
    const made = madeReport();
    const [first, ...others] = made.outcomes;
    assert.ok(first !== undefined);
    const rounds = first.rounds.map((round, at) => (at === 0 ? { ...round, broken: 3, reasons: ['cut off'] } : round));
    const behind = behindOf({ ...made, outcomes: [{ ...first, rounds }, ...others] });
    assert.ok(behind.aims.some((sentence) => sentence.startsWith('W1, service: ')));
    assert.ok(behind.aims.every((sentence) => /^W\w+, service(?:-all)?: /.test(sentence)));
    assert.ok(behind.peers.some((sentence) => /^W3, service: CPU \d+ µs a turn, cheaper: portkey \d+ µs a turn/.test(sentence)));
    assert.deepEqual(behind.warnings, ['K1: p99 grows with the chunks, 10 × for 10 ×, and it should grow slower.']);
    assert.deepEqual(behind.broken, ['W1, relay: 3 of 10,000 streams broke, the first for this: cut off.']);
  });

  test('a single round says nothing about peers', () => {
    assert.deepEqual(behindOf(madeReport(1)).peers, []);
  });

  test('the Markdown ends with what is behind', () => {
    const report = reportOf(madeReport());
    const [, behind = ''] = reportMarkdown(report).split('## What is behind');
    for (const sentence of [...report.behind.aims, ...report.behind.warnings, ...report.behind.peers]) assert.ok(behind.includes(sentence));
  });
});
