/** Snippets of a guide, as they stand there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './project-root.ts';

export interface Snippet {
  /** Empty where the fence names none. */
  readonly language: string;
  readonly text: string;
}

/** All of a guide, or of what stands below one of its headings of the second level. */
export function snippetsOf(path: string, heading?: string): readonly Snippet[] {
  const guide = readFileSync(join(projectRoot(), path), 'utf8');
  const section = heading === undefined ? guide : (guide.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ')[0];
  return Array.from((section ?? '').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, language = '', text = '']) => ({ language, text }));
}

export function snippetsIn(language: string, path: string, heading?: string): readonly string[] {
  return snippetsOf(path, heading).flatMap((snippet) => (snippet.language === language ? [snippet.text] : []));
}
