/** The pictures that lie in machines/pictures/, made by `npm run diagrams`. */
import { readFileSync } from 'node:fs';
import type { ListedMachine } from '../index.ts';
import type { MachinePicture } from '../picture.ts';

/** Seen from the compiled file: the pictures are installed with the program as they are committed. */
const FOLDER = new URL('../../../machines/pictures/', import.meta.url);

/** The picture of a listed machine; a test holds it against the definition. @throws Error of the file system when it was never made. */
export function readPicture({ name }: Pick<ListedMachine, 'name'>): MachinePicture {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as MachinePicture;
}
