/** `npm run diagrams`: draws every machine anew, as JSON for the console and as SVG for documents; takes away those of machines that are gone. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictureSvg } from '../../machines/diagrams/svg.ts';
import { MACHINES } from '../../machines/index.ts';
import type { MachinePicture } from '../../machines/picture.ts';
import { projectRoot } from '../../tests/support/project-root.ts';
import { layoutMachine } from './layout.ts';

/** One state, edge or dot a line, so that a change of one reads as such. */
function pictureJson(picture: MachinePicture): string {
  const fields = Object.entries(picture).map(([name, value]: readonly [string, unknown]) => {
    const lines = Array.isArray(value) ? value.map((part) => `\n  ${JSON.stringify(part)}`) : [];
    return `${JSON.stringify(name)}: ${lines.length === 0 ? JSON.stringify(value) : `[${lines.join(',')}\n]`}`;
  });
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** Writes one file for each machine into `folder`, and removes all others. */
function replaceFiles(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}

const json = new Map<string, string>();
const svg = new Map<string, string>();
for (const listed of MACHINES) {
  const picture = await layoutMachine(listed);
  json.set(`${listed.name}.json`, pictureJson(picture));
  svg.set(`${listed.name}.svg`, pictureSvg(picture, listed.title));
}
replaceFiles(join(projectRoot(), 'machines', 'pictures'), json);
replaceFiles(join(projectRoot(), 'docs', 'images', 'machines'), svg);
