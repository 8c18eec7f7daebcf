/**
 * The destination of files that are no databases: a folder, or a bucket of an S3 server. Names are those of files and of manifests,
 * which end with `.json`. What is put is there as a whole or not at all.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AwsClient } from 'aws4fetch';
import { makeFolder } from '../../storage/data-layout.ts';
import type { ReplicaConfig } from '../config.ts';
import { shownUrl } from './litestream-configuration.ts';

export interface ReplicaStore {
  put(name: string, bytes: Buffer): Promise<void>;
  /**
   * Puts it in place of what is there, if that is what is expected (undefined: nothing is there). False: it is not. An S3 server is told to
   * put it on this condition only, in a folder the first of several has it.
   */
  replace(name: string, isExpected: (bytes: Buffer | undefined) => boolean, bytes: Buffer): Promise<boolean>;
  get(name: string): Promise<Buffer | undefined>;
  /** One that is not there is no error. */
  remove(name: string): Promise<void>;
  /** What has a name that begins with `prefix`, in no order. @throws Error when the destination is away. */
  list(prefix: string): Promise<Stored[]>;
}

export interface Stored {
  readonly name: string;
  /** When it was put, by the destination's clock. */
  readonly putAtMs: number;
}

/** An upload has some megabytes; a server that takes longer for one is tried again later. */
const ANSWER_MAX_MS = 60_000;
/** Tries of one request while it is answered 5xx, and the pause before the second; the keeper tries again anyway. */
const TRIES = 3;
const TRY_AGAIN_MS = 200;
const BUSY = 500;
/** The answers to a conditional write where something else is there, or is being put there. */
const IS_OTHERWISE: ReadonlySet<number> = new Set([409, 412]);
/** The answer of a server that has no conditional writes. */
const UNKNOWN_CONDITION = 501;
/** A longer refusal is cut in a message. */
const REFUSAL_CHARS = 200;

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function writePart(path: string, bytes: Buffer, flag: 'w' | 'wx' = 'w'): Promise<void> {
  makeFolder(dirname(path));
  const file = await open(path, flag, 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What a mount without hard links answers, such as of exFAT or of some network shares. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** Puts it there where nothing is yet. Without hard links who reads it in this moment may find a part, and looks again. @throws the system's error: EEXIST */
async function linkOrWrite(part: string, path: string, bytes: Buffer): Promise<void> {
  try {
    await link(part, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
    await writePart(path, bytes, 'wx');
  }
}

async function modifiedAtMs(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function folderStore(root: string): ReplicaStore {
  const get = async (name: string) => {
    try {
      return await readFile(join(root, name));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  };
  return {
    async put(name, bytes) {
      const path = join(root, name);
      await writePart(`${path}.part`, bytes);
      await rename(`${path}.part`, path);
    },
    async replace(name, isExpected, bytes) {
      const standing = await get(name);
      if (!isExpected(standing)) return false;
      const path = join(root, name);
      const part = `${path}.${randomUUID()}.part`;
      try {
        await writePart(part, bytes);
        if (standing === undefined) await linkOrWrite(part, path, bytes);
        else await rename(part, path);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      } finally {
        await rm(part, { force: true });
      }
    },
    get,
    remove: (name) => rm(join(root, name), { force: true }),
    async list(prefix) {
      const folder = join(root, prefix.slice(0, prefix.lastIndexOf('/') + 1));
      try {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        const names = entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
        const wanted = names.filter((name) => name.startsWith(prefix));
        const found = await Promise.all(
          wanted.map(async (name) => ({ name, putAtMs: (await modifiedAtMs(join(root, name))) ?? Number.NaN })),
        );
        // Litestream may remove one meanwhile.
        return found.filter(({ putAtMs }) => !Number.isNaN(putAtMs));
      } catch (error) {
        if (!isAbsent(error)) throw error;
        // Nothing was put there yet, or the disk is not mounted: then this throws.
        await readdir(root);
        return [];
      }
    },
  };
}

/** What a page that lists objects tells. Names of this service and of Litestream have no character that XML escapes. */
const KEY = /<Key>([^<]+)<\/Key>/;
const MODIFIED = /<LastModified>([^<]+)<\/LastModified>/;
const NEXT = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/;

function bucketStore(url: string, { endpoint, region, accessKeyId = '', secretAccessKey = '' }: ReplicaConfig['s3']): ReplicaStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const server = endpoint ?? `https://s3.${region}.amazonaws.com`;
  const [bucket = '', ...folders] = url.slice('s3://'.length).split('/');
  const root = folders.map((folder) => `${folder}/`).join('');
  const send = async (method: 'PUT' | 'GET' | 'DELETE', address: string, body?: Buffer, headers = {}): Promise<Response> => {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const init = body === undefined ? { method } : { method, headers, body: new Uint8Array(body) };
    for (let tries = 1; ; tries += 1) {
      // Told to `fetch` itself: a signal of the request is forgotten together with the request, whose copy is what is sent.
      const answer = await fetch(await client.sign(`${server}/${bucket}${address}`, init), { signal });
      if (answer.status < BUSY || tries === TRIES) return answer;
      await answer.body?.cancel();
      await pause(TRY_AGAIN_MS * tries);
    }
  };
  const refusal = async (answer: Response, what: string): Promise<Error> => {
    const said = (await answer.text()).slice(0, REFUSAL_CHARS);
    return new Error(`${shownUrl(url)} answered ${answer.status} to ${what}: ${said}`);
  };
  const ask = async (method: 'PUT' | 'GET' | 'DELETE', name: string, body?: Buffer): Promise<Response> => {
    const answer = await send(method, `/${root}${name}`, body);
    if (answer.ok || (answer.status === 404 && method !== 'PUT')) return answer;
    throw await refusal(answer, `${method} of ${name}`);
  };
  return {
    async put(name, bytes) {
      await ask('PUT', name, bytes);
    },
    async replace(name, isExpected, bytes) {
      const standing = await ask('GET', name);
      const isThere = standing.status !== 404;
      if (!isExpected(isThere ? Buffer.from(await standing.arrayBuffer()) : undefined)) return false;
      const etag = standing.headers.get('etag');
      const condition = isThere ? etag && { 'If-Match': etag } : { 'If-None-Match': '*' };
      const answer = await send('PUT', `/${root}${name}`, bytes, condition || {});
      if (answer.ok) return true;
      if (IS_OTHERWISE.has(answer.status)) return false;
      if (answer.status !== UNKNOWN_CONDITION) throw await refusal(answer, `PUT of ${name}`);
      await ask('PUT', name, bytes);
      return true;
    },
    async get(name) {
      const answer = await ask('GET', name);
      return answer.status === 404 ? undefined : Buffer.from(await answer.arrayBuffer());
    },
    async remove(name) {
      await ask('DELETE', name);
    },
    async list(prefix) {
      const found: Stored[] = [];
      let token: string | undefined = '';
      while (token !== undefined) {
        const next: string = token === '' ? '' : `&continuation-token=${encodeURIComponent(token)}`;
        const answer: Response = await send('GET', `?list-type=2&prefix=${encodeURIComponent(root + prefix)}${next}`);
        // Here a 404 says that the bucket is away.
        if (!answer.ok) throw await refusal(answer, 'a listing');
        const page = await answer.text();
        for (const object of page.split('</Contents>').slice(0, -1)) {
          const [key, at] = [KEY, MODIFIED].map((field) => field.exec(object)?.[1] ?? '') as [string, string];
          found.push({ name: key.slice(root.length), putAtMs: Date.parse(at) });
        }
        token = NEXT.exec(page)?.[1];
      }
      return found;
    },
  };
}

/** Undefined for an address where only Litestream can write. */
export function replicaStore({ url, s3 }: Pick<ReplicaConfig, 'url' | 's3'>): ReplicaStore | undefined {
  if (url.startsWith('file://')) return folderStore(fileURLToPath(url));
  return url.startsWith('s3://') ? bucketStore(url, s3) : undefined;
}
