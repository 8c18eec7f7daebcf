/**
 * An S3 server in a process of its own, over a folder: the stand-in for object storage. Beside its own refusals (a wrong key id, a bucket that
 * is not there) a program that stands in front of it refuses and goes away as it is told, which s3rver cannot.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import { temporaryDir } from './temporary-dir.ts';

export interface ObjectStorage {
  readonly url: string;
  /** The folder below which each object is a file, its name with `._S3rver_object` behind it. */
  readonly folder: string;
  /** What a program needs to write there. */
  readonly env: Readonly<Record<string, string>>;
}

/** s3rver's own credentials. */
const KEY = 'S3RVER';
const BUCKET = 'replicas';

const PROGRAM = `
const S3rver = require(process.argv[1]);
const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: process.argv[2], configureBuckets: [{ name: '${BUCKET}' }] });
// With a delimiter s3rver forgets the folders whose objects lie deeper than one below: what a listing with Litestream's generations needs.
const list = server.store.listObjects.bind(server.store);
server.store.listObjects = async (bucket, { delimiter, prefix = '', maxKeys = 1000, ...options }) => {
  const found = await list(bucket, { prefix, ...options, maxKeys: Infinity });
  const folderOf = ({ key }) => {
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    return end < 0 ? undefined : key.slice(0, end + 1);
  };
  const objects = found.objects.filter((object) => folderOf(object) === undefined);
  const commonPrefixes = [...new Set(found.objects.map(folderOf).filter((folder) => folder !== undefined))];
  return { objects: objects.slice(0, maxKeys), commonPrefixes, isTruncated: objects.length > maxKeys };
};
server.run().then(({ port }) => console.log(port));
`;

export async function startObjectStorage(t: TestContext): Promise<ObjectStorage> {
  const { stop, ...storage } = await launchObjectStorage(temporaryDir(t));
  t.after(stop);
  return storage;
}

/** The same over a folder of the caller's, who stops it. */
export async function launchObjectStorage(folder: string): Promise<ObjectStorage & { stop(): void }> {
  const s3rver = createRequire(import.meta.url).resolve('s3rver');
  const child: ChildProcess = spawn(process.execPath, ['-e', PROGRAM, s3rver, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [first] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const endpoint = `http://127.0.0.1:${Number(first.toString())}`;
  return {
    folder,
    url: `s3://${BUCKET}/assistant`,
    env: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    stop: () => void child.kill('SIGKILL'),
  };
}
