/** Small files about the replica that other processes read: each is there as it was or as it is, never half of it. */
import { renameSync, writeFileSync } from 'node:fs';

/** Replaces the file as a whole; its folder is there. Only the owner may read it. */
export function replaceFile(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
