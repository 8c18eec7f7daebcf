/** Writes what a run found, as far as it is: `report.json`, and the same as `report.md`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, type Results, reportOfRun } from './report-data.ts';
import { reportMarkdown } from './report-markdown.ts';

function write(report: Report, outDir: string): string {
  const markdown = reportMarkdown(report);
  writeFileSync(join(outDir, 'report.md'), markdown);
  writeFileSync(join(outDir, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  return markdown;
}

/** Writes all files into `outDir`; returns the tables. After every part, so that a run that is cut short leaves what it found. */
export function writeResults(results: Results, outDir: string): string {
  return write(reportOfRun(results), outDir);
}
