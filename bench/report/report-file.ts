/** Reads a `report.json` again, of this machine or another one. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { UsageError } from '../arguments.ts';
import { FORMAT, type Measured, type Report, reportOf } from './report-data.ts';

const words = v.string();
const numbers = v.array(v.number());

/** What the report counts with, so that a file of another kind is refused; all of it is kept as it is. */
const measured = v.looseObject({
  format: v.literal(FORMAT),
  began: words,
  machine: v.looseObject({ cores: v.number(), memory_bytes: v.number() }),
  candidates: v.array(v.looseObject({ name: words, what: words, role: v.picklist(['limit', 'service', 'earlier', 'peer']) })),
  outcomes: v.array(
    v.looseObject({
      workload: v.looseObject({ name: words, tokens: v.number(), aims: v.array(v.unknown()) }),
      candidate: words,
      rounds: v.array(v.looseObject({ ok: v.number(), cpu_ns: v.number(), first_ms: numbers, whole_ms: numbers })),
    }),
  ),
  findings: v.array(v.looseObject({ name: words, what: words, tables: v.array(v.looseObject({ columns: v.array(words) })) })),
  left_out: v.array(v.looseObject({ candidate: words, why: words })),
});

/** What follows from the figures is found anew. @throws UsageError, in one line, when the file is no report */
export function readReport(file: string): Report {
  const read = (): unknown => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new UsageError(`report: ${file} cannot be read: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    }
  };
  const found = v.safeParse(measured, read());
  if (!found.success) {
    const [issue] = found.issues;
    const where = v.getDotPath(issue) ?? 'the whole';
    throw new UsageError(`report: ${file} is no report of this version (${where}): name the report.json of a run, or run it anew`);
  }
  // Checked where a wrong value would break the report; numbers that are not there are left out of the plots.
  return reportOf(found.output as unknown as Measured);
}
