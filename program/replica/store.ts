/**
 * The destination of files that are no databases: a folder, or a bucket of an S3 server. Names are those of `replicated-files.ts` and of
 * manifests, which end with `.json`. What is put is there as a whole or not at all.
 */
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AwsClient } from 'aws4fetch';
import type { ReplicaConfig } from '../config.ts';
import { shownUrl } from './litestream-configuration.ts';

export interface ReplicaStore {
  put(name: string, bytes: Buffer): Promise<void>;
  /** Undefined: there is none of this name. */
  get(name: string): Promise<Buffer | undefined>;
  remove(name: string): Promise<void>;
}

/** An upload has some megabytes; a server that takes longer for one is tried again later. */
const ANSWER_MAX_MS = 60_000;
/** Tries of one request after an answer of 5xx; the keeper tries again anyway. */
const RETRIES = 2;
/** A longer refusal is cut in a message. */
const REFUSAL_CHARS = 200;

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function folderStore(root: string): ReplicaStore {
  return {
    async put(name, bytes) {
      const path = join(root, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(`${path}.part`, 'w', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.part`, path);
    },
    async get(name) {
      try {
        return await readFile(join(root, name));
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
    },
    remove: (name) => rm(join(root, name), { force: true }),
  };
}

function bucketStore(url: string, { endpoint, region, accessKeyId = '', secretAccessKey = '' }: ReplicaConfig['s3']): ReplicaStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: RETRIES });
  const base = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${url.slice('s3://'.length)}`;
  const ask = async (method: 'PUT' | 'GET' | 'DELETE', name: string, body?: Buffer): Promise<Response> => {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const init = body === undefined ? { method, signal } : { method, signal, body: new Uint8Array(body) };
    const answer = await client.fetch(`${base}/${name}`, init);
    if (answer.ok || (answer.status === 404 && method !== 'PUT')) return answer;
    const said = (await answer.text()).slice(0, REFUSAL_CHARS);
    throw new Error(`${shownUrl(url)} answered ${answer.status} to ${method} of ${name}: ${said}`);
  };
  return {
    async put(name, bytes) {
      await ask('PUT', name, bytes);
    },
    async get(name) {
      const answer = await ask('GET', name);
      return answer.status === 404 ? undefined : Buffer.from(await answer.arrayBuffer());
    },
    async remove(name) {
      await ask('DELETE', name);
    },
  };
}

/** Undefined for an address where only Litestream can write. */
export function replicaStore({ url, s3 }: Pick<ReplicaConfig, 'url' | 's3'>): ReplicaStore | undefined {
  if (url.startsWith('file://')) return folderStore(fileURLToPath(url));
  return url.startsWith('s3://') ? bucketStore(url, s3) : undefined;
}
