/** The project's files below a folder, for tests that read sources and documents; packages that were installed there are none of them. */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Paths relative to `root`, with forward slashes, sorted. */
export function filesBelow(root: string, folder: string, ending: string): string[] {
  const below = (dir: string): string[] =>
    readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : below(path);
      return entry.isFile() && entry.name.endsWith(ending) ? [relative(root, path).split(sep).join('/')] : [];
    });
  return below(join(root, folder)).sort();
}
