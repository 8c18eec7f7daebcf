/** Writes what a run found, as far as it is: `report.json`, and made of it `report.html`, `report.md` and `cpu.svg`. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Measured, type Report, reportOf } from './report-data.ts';
import { readReport } from './report-file.ts';
import { reportHtml } from './report-html.ts';
import { reportMarkdown } from './report-markdown.ts';
import { readmeSvg } from './report-plots.ts';

function writeReport(report: Report, outDir: string): string {
  const markdown = reportMarkdown(report);
  writeFileSync(join(outDir, 'report.md'), markdown);
  writeFileSync(join(outDir, 'report.html'), reportHtml(report));
  const svg = readmeSvg(report);
  if (svg !== undefined) writeFileSync(join(outDir, 'cpu.svg'), svg);
  return markdown;
}

/** Writes all files into `outDir`; returns the tables. After every part, so that a run that is cut short leaves what it found. */
export function writeResults(results: Measured, outDir: string): string {
  const report = reportOf(results);
  writeFileSync(join(outDir, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  return writeReport(report, outDir);
}

/** Makes everything anew that is made of a `report.json`, beside it; returns the folder. @throws UsageError when it is none */
export function writeAgain(file: string): string {
  const outDir = dirname(file);
  writeReport(readReport(file), outDir);
  return outDir;
}
