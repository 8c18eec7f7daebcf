/** The report as a page: complete, self-contained, and made anew from its data. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { UsageError } from '../../../bench/arguments.ts';
import { linearScale, logScale, scaleFor, spread } from '../../../bench/page/scale.ts';
import { pagesMade, readmeFigures } from '../../../bench/report/readme.ts';
import { reportOf } from '../../../bench/report/report-data.ts';
import { readReport } from '../../../bench/report/report-file.ts';
import { reportHtml } from '../../../bench/report/report-html.ts';
import { reportMarkdown } from '../../../bench/report/report-markdown.ts';
import { huesOf, readmeSvg } from '../../../bench/report/report-plots.ts';
import { writeAgain } from '../../../bench/report/results.ts';
import { projectRoot } from '../../support/project-root.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';
import { madeReport } from './made-report.ts';

const report = reportOf(madeReport());
const html = reportHtml(report);
/** Whatever would fetch something, or run. */
const REACHES_OUT = /<script|<link|<iframe|<img|src=|url\(|@import|href="(?!#)|javascript:|\son\w+=/i;

describe('BENCH-13: the page of the report', () => {
  test('it is one file that asks for nothing and runs nothing', () => {
    assert.doesNotMatch(html, REACHES_OUT);
    assert.doesNotMatch(html, /NaN|undefined|Infinity/);
  });

  test('what others said is text', () => {
    const named = {
      ...madeReport(),
      candidates: madeReport().candidates.map((server) => ({ ...server, notes: `"><img src=x onerror='y'>` })),
    };
    const page = reportHtml(reportOf(named));
    assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;'));
    assert.doesNotMatch(page, /<img|<script/);
  });

  test('every workload has its plots, every finding its curves, tables and warnings, and every server its place', () => {
    const workloads = [...new Set(report.outcomes.map(({ workload }) => workload.name))];
    for (const name of workloads) {
      for (const plot of ['CPU', 'first delta', 'whole turn', 'peak memory']) {
        assert.equal(html.split(`<figcaption>${name}: ${plot} <small>`).length, 2, `${name}: ${plot}`);
      }
    }
    assert.equal(html.split('<svg').length - 1, workloads.length * 4 + 1);
    assert.equal(html.split('role="img" aria-label="').length - 1, workloads.length * 4 + 1);
    for (const { name, what } of report.candidates)
      assert.ok(html.includes(`<th scope="row">${name}</th><td>${what.replaceAll("'", '&#39;')}</td>`), name);
    assert.ok(html.includes('<th scope="row" class="number">100,000</th>') && html.includes('A question <small>ms, by powers</small>'));
    const all = [...Object.values(report.behind).flat(), ...(report.against?.words ?? [])];
    assert.ok(all.length > 10);
    for (const sentence of all) assert.ok(html.includes(sentence.replaceAll("'", '&#39;')), sentence);
  });

  test('a run that found nothing yet is a page too', () => {
    const empty = reportHtml(reportOf({ ...madeReport(), outcomes: [], findings: [], left_out: [] }));
    assert.doesNotMatch(empty, /NaN|undefined|Infinity/);
    assert.ok(empty.includes('Nothing that this run can tell.'));
  });

  test('a run without the relay, of one round, with a curve of one point and a figure that is not there, is a page too', () => {
    const made = madeReport(1);
    const curve = {
      title: 'One',
      x: 'x',
      y: 'y',
      lines: [
        {
          name: 'a',
          points: [
            { x: 0, y: Number.NaN },
            { x: 1, y: 2 },
          ],
        },
      ],
    };
    const [finding] = made.findings;
    assert.ok(finding !== undefined);
    const page = reportHtml(
      reportOf({
        ...made,
        outcomes: made.outcomes.filter(({ candidate }) => candidate !== 'relay'),
        findings: [{ ...finding, curves: [curve] }],
      }),
    );
    assert.doesNotMatch(page, /NaN|undefined|Infinity/);
  });

  test('it is made anew from report.json, the same', (t) => {
    const folder = temporaryDir(t);
    const file = join(folder, 'report.json');
    writeFileSync(file, JSON.stringify(report));
    assert.equal(writeAgain(file), folder);
    assert.equal(readFileSync(join(folder, 'report.html'), 'utf8'), html);
    assert.equal(readFileSync(join(folder, 'report.md'), 'utf8'), reportMarkdown(report));
    assert.equal(readFileSync(join(folder, 'cpu.svg'), 'utf8'), readmeSvg(report));
  });

  test('a file that is no report is refused in one line', (t) => {
    const file = join(temporaryDir(t), 'report.json');
    for (const text of ['{}', 'no JSON', '{"format":1}', JSON.stringify({ ...report, outcomes: [{}] })]) {
      writeFileSync(file, text);
      assert.throws(
        () => readReport(file),
        (error) => error instanceof UsageError && !error.message.includes('\n'),
      );
    }
  });

  test('the plot for documents stands by itself and shows all servers but the earlier build', () => {
    const svg = readmeSvg(report) ?? '';
    assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*prefers-color-scheme:dark.*<\/svg>\n$/s);
    assert.doesNotMatch(svg.replaceAll('http://www.w3.org/2000/svg', ''), /http|NaN|undefined|<script/);
    for (const { name, role } of report.candidates) assert.equal(svg.split(`>${name}</text>`).length - 1, role === 'earlier' ? 0 : 2, name);
    assert.equal(readmeSvg({ ...report, outcomes: [] }), undefined);
  });

  test('no two servers look alike', () => {
    const hues = [...huesOf(report.candidates).values()];
    assert.equal(new Set(hues).size, report.candidates.length);
  });
});

test('BENCH-17: README.md and docs/scaling.md tell what the latest kept result makes (`npm run bench -- readme` writes them)', () => {
  const pages = pagesMade();
  assert.equal(pages.length, 2);
  for (const [path, text] of pages) assert.equal(readFileSync(join(projectRoot(), path), 'utf8'), text, path);
});

test('BENCH-17: its figures are of all servers; who has less than the service is named, with each missed aim', () => {
  const made = readmeFigures(report, 'bench/results/x');
  for (const { what, role } of report.candidates) assert.equal(made.includes(what) || role === 'limit', role !== 'earlier', what);
  assert.match(made, /^- short turns: \d+ µs; less: portkey \d+ µs\.$/m);
  assert.match(made, /ahead\*\* of every peer: long answers/);
  assert.doesNotMatch(made, /NaN|undefined|Infinity/);
});

describe('BENCH-13: axes', () => {
  test('values that differ much go by powers, the others begin at zero', () => {
    assert.equal(scaleFor([3, 600]).isLog, true);
    assert.equal(scaleFor([3, 60]).isLog, false);
    assert.equal(scaleFor([]).place(1), 1);
    assert.deepEqual(
      linearScale(8).ticks.map(({ at }) => at),
      [0, 2, 4, 6, 8],
    );
    const scale = logScale(3, 600);
    assert.deepEqual(
      scale.ticks.map(({ label }) => label),
      ['10', '100', '1000'],
    );
    assert.deepEqual([scale.place(0), scale.place(2), scale.place(1_000)], [0, 0, 1]);
  });

  test('labels keep their distance and their order', () => {
    const places = spread([50, 51, 10, 99, 98], 10, 0, 100);
    const sorted = places.toSorted((one, other) => one - other);
    for (const [at, place] of sorted.entries()) if (at > 0) assert.ok(place - (sorted[at - 1] ?? 0) >= 10);
    assert.ok((places[0] ?? 0) < (places[1] ?? 0) && Math.max(...places) <= 100);
  });
});
