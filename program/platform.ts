/**
 * Imported before all else, for what it does: a process whose native packages do not load on this Node or this system ends with one line that says
 * what is needed, and not with a stack of the first module that wants them (RUN-40).
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads what is compiled; each is loaded anyway, some modules later. */
const NATIVE: Readonly<Record<string, () => void>> = {
  'uWebSockets.js': () => void require('uWebSockets.js'),
  'better-sqlite3': () => void new (require('better-sqlite3') as new (path: string) => unknown)(':memory:'),
};

function glibc(): string {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? 'no glibc' : `glibc ${header.glibcVersionRuntime}`;
}

/** Why a package does not load, and what to do. `text` is what the loader said. */
export function whyNot(name: string, text: string): string {
  const here = `Node ${process.versions.node} with ${glibc()} on ${process.platform} ${process.arch}`;
  const lacking = /version `GLIBC_([\d.]+)' not found/.exec(text)?.[1];
  const compiled = /NODE_MODULE_VERSION (\d+)/.exec(text)?.[1];
  const does =
    lacking !== undefined
      ? `its binary for this Node needs glibc ${lacking} (Debian 13, Ubuntu 24.04), or use Node 20, whose binary needs less`
      : compiled !== undefined
        ? 'it was compiled for another Node: use the archive for this one, or run npm rebuild better-sqlite3'
        : 'Node 20, 22 or 24 is needed, on Linux with glibc, macOS or Windows';
  return `${name} does not load on ${here}: ${does}.`;
}

for (const [name, load] of Object.entries(NATIVE)) {
  try {
    load();
  } catch (error) {
    process.stderr.write(`${whyNot(name, String(error))}\n`);
    process.exit(1);
  }
}
