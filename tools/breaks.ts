/** docs/specification/breaks.json: for each guarantee a way to break it on purpose. The tests whose titles name its rule have to notice. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { projectRoot } from '../tests/support/project-root.ts';

const breakSchema = v.strictObject({
  /** `CHAT-7`: the rule that no longer holds. */
  rule: v.string(),
  /** What the program then does, as a verb: "speaks before the commit". */
  breaks: v.string(),
  file: v.string(),
  /** Stands exactly once in the file. */
  replace: v.pipe(v.string(), v.minLength(1)),
  by: v.string(),
});
export type Break = v.InferOutput<typeof breakSchema>;

export function readBreaks(): Break[] {
  return v.parse(v.array(breakSchema), JSON.parse(readFileSync(join(projectRoot(), 'docs/specification/breaks.json'), 'utf8')));
}

/** The source with the guarantee broken. @throws Error when what is replaced does not stand in it exactly once */
export function broken({ rule, file, replace, by }: Break, source: string): string {
  const parts = source.split(replace);
  if (parts.length !== 2)
    throw new Error(`${rule}: "${replace}" stands ${parts.length - 1} times in ${file}, and has to stand there once.`);
  return parts.join(by);
}
