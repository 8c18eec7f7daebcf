/**
 * Licences of the packages that are in the scripts which browsers load, by what esbuild says is in them. The scripts themselves have no room
 * for it: they name the file that lies beside them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const NOTICES_FILE = 'NOTICES.txt';

/** For esbuild's `footer`. */
export const NOTICES_FOOTER = { js: `/*! Licences: ${NOTICES_FILE} */` };

/** The innermost package of a path, which ends where its own package.json lies. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/** Folders of the packages of which something is in the outputs, relative to the root. */
function packagesIn(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs)));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => PACKAGE.exec(path)?.[0]);
  return [...new Set(kept.filter((folder) => folder !== undefined))].sort();
}

/** @throws Error when a package says nothing of its licence */
function noticeOf(folder) {
  const { name, version, license, author, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name));
  const texts = files.map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim());
  if (typeof license !== 'string' && texts.length === 0) throw new Error(`${name} is in a script and says nothing of its licence.`);
  const by = typeof author === 'string' ? author : author?.name;
  const head = [`${name} ${version}`, `Licence: ${license ?? 'see below'}`, by && `By: ${by}`, homepage && `From: ${homepage}`];
  return [head.filter(Boolean).join('\n'), ...texts].join('\n\n');
}

/** Writes the file of these builds into `out`, with its copies for gzip and br. `root`: where their paths begin. */
export function writeNotices(out, root, ...metafiles) {
  const notices = packagesIn(metafiles).map((folder) => noticeOf(join(root, folder)));
  const intro = 'The scripts beside this file contain the following packages, under these licences.';
  const bytes = Buffer.from(`${[intro, ...notices].join(`\n\n${'='.repeat(80)}\n\n`)}\n`);
  const file = join(out, NOTICES_FILE);
  writeFileSync(file, bytes);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
}
