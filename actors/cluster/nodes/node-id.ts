/** Ids of nodes and where each listens for its neighbours on the host. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** 40 bits: no two starts of one cell ever have the same. */
const MARK_CHARS = 8;
const ID = /~([a-z2-7]{8})$/;
/** The kernel takes 107; the rest is room for a temporary name. */
const SOCKET_PATH_MAX_BYTES = 100;
const ENDING = '.sock';

/** `<NODE_ID or the host's name>~<8 random characters>`: one start of a node, never used again. */
export function mintNodeId(name: string | undefined): string {
  const mark = [...randomBytes(MARK_CHARS)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${name ?? hostname()}~${mark}`;
}

/** What stands before the 8 characters. */
export function nameOf(id: string): string {
  return id.slice(0, id.lastIndexOf('~'));
}

/** The 8 characters that are this start's own; null for what is no node's id. */
export function markOf(id: string): string | null {
  return ID.exec(id)?.[1] ?? null;
}

/** Folder of the sockets of a cell's nodes. */
export function nodesDir(dataDir: string): string {
  return join(dataDir, 'nodes');
}

/** Socket of the start with this mark. @throws Error when the path is longer than a socket's may be. */
export function socketPathOfMark(dataDir: string, mark: string): string {
  const path = join(nodesDir(dataDir), `${mark}${ENDING}`);
  const bytes = Buffer.byteLength(path);
  if (bytes > SOCKET_PATH_MAX_BYTES) {
    throw new Error(
      `DATA_DIR is too long for the sockets of several nodes: ${path} has ${bytes} bytes and may have ${SOCKET_PATH_MAX_BYTES}.`,
    );
  }
  return path;
}

/** Socket of a node. @throws Error when the path is too long, or for what is no node's id. */
export function socketPath(dataDir: string, id: string): string {
  const mark = markOf(id);
  if (mark === null) throw new Error(`${id} is no node's id, which ends with ~ and ${MARK_CHARS} characters.`);
  return socketPathOfMark(dataDir, mark);
}

/** Mark of a file of the folder; null when it is no socket of a node. */
export function markOfFile(name: string): string | null {
  return name.endsWith(ENDING) ? markOf(`~${name.slice(0, -ENDING.length)}`) : null;
}
