/**
 * The door to a move's work on files. Copying and putting in place run in a thread of their own each, as reading and hashing gigabytes holds
 * a thread up. What is sent is what a backup holds, its manifest first: a line of JSON for each file, with its path and size, then its bytes.
 */
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import * as v from 'valibot';
import { Refusal } from '../../protocol/errors.ts';
import { isBackupName, MANIFEST, masterKeyFingerprint } from '../backup/backup-manifest.ts';
import type { DataLayout } from '../data-layout.ts';
import type { Vault } from '../secrets/vault.ts';
import { errorOf, type Failure } from '../sqlite/writer-messages.ts';
import type { ControlRows } from './control-rows.ts';
import { type CopyInput, type MoveCopy, type MoveRef, type MoveSide, moveFolders, newMoveFolder } from './move-copy.ts';
import type { EmptyInput, PlaceInput } from './move-place.ts';
import type { MoveRow } from './moves.ts';

export interface Jobs {
  copy: { input: CopyInput; output: MoveCopy };
  place: { input: PlaceInput; output: ControlRows };
  empty: { input: EmptyInput; output: undefined };
}

export type MoveTask = {
  [Job in keyof Jobs]: { readonly dataDir: string; readonly job: Job; readonly input: Jobs[Job]['input'] };
}[keyof Jobs];

export type MoveVerdict = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure };

/** A path and a size: longer is none. */
const HEAD_MAX_BYTES = 512;
const LINE_END = 10;

const headSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    path: v.pipe(
      v.string(),
      v.check((path) => path === MANIFEST || isBackupName(path)),
    ),
    size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
);

async function* bytesOf(folder: string, paths: readonly string[], { dir }: DataLayout): AsyncGenerator<Uint8Array> {
  for (const path of [MANIFEST, ...paths]) {
    const copied = join(folder, path);
    const file = await open(existsSync(copied) ? copied : join(dir, path));
    try {
      const { size } = await file.stat();
      yield Buffer.from(`${JSON.stringify({ path, size })}\n`);
      yield* file.createReadStream({ autoClose: false });
    } finally {
      await file.close();
    }
  }
}

/** Writes the files of a stream into the folder. @throws Refusal or Error when it is none, or ends early */
async function keep(stream: AsyncIterable<Buffer>, folder: string): Promise<void> {
  let head = Buffer.alloc(0);
  let file: FileHandle | undefined;
  let left = 0;
  try {
    for await (const chunk of stream) {
      for (let rest = chunk; rest.length > 0; ) {
        if (file === undefined) {
          const end = rest.indexOf(LINE_END);
          head = Buffer.concat([head, end < 0 ? rest : rest.subarray(0, end)]);
          if (end < 0 && head.length <= HEAD_MAX_BYTES) break;
          const read = v.safeParse(headSchema, head.toString('utf8'));
          if (!read.success) throw new Refusal('invalid_request', 'What was sent is no backup of an organisation.');
          const path = join(folder, read.output.path);
          await mkdir(dirname(path), { recursive: true, mode: 0o700 });
          file = await open(path, 'wx', 0o600);
          [head, left, rest] = [Buffer.alloc(0), read.output.size, rest.subarray(end + 1)];
        }
        const part = rest.subarray(0, left);
        await file.writeFile(part);
        rest = rest.subarray(part.length);
        left -= part.length;
        if (left > 0) continue;
        await file.sync();
        await file.close();
        file = undefined;
      }
    }
    if (file !== undefined || head.length > 0) throw new Error('what was sent ends early');
  } finally {
    await file?.close();
  }
}

/** Each rejects with a Refusal, or with an error after which it may be tried again. */
export class MoveFiles {
  readonly #layout: DataLayout;
  readonly #keyFingerprint: string;
  readonly #placing = new Set<string>();

  constructor(layout: DataLayout, vault: Vault) {
    this.#layout = layout;
    this.#keyFingerprint = masterKeyFingerprint(vault);
  }

  /** Copies the sealed file with its manifest, and verifies the copy. */
  copy({ organisationId, moveId, copy }: Pick<MoveRow, 'organisationId' | 'moveId' | 'copy'>): Promise<MoveCopy> {
    return this.run('copy', { organisationId, moveId, copy, keyFingerprint: this.#keyFingerprint });
  }

  /** A copy and its uploads, to be sent. */
  stream(folder: string, paths: readonly string[]): Readable {
    return Readable.from(bytesOf(folder, paths, this.#layout), { objectMode: false });
  }

  /** Whether what came is being verified and put in place: it goes on for minutes, also when its sender has ended the request and sends again. */
  isPlacing(moveId: string): boolean {
    return this.#placing.has(moveId);
  }

  /** Takes what is sent, verifies it and puts it in place, sealed. Returns its rows of the control file. */
  async place(ref: MoveRef, stream: AsyncIterable<Buffer>): Promise<ControlRows> {
    const { organisationId, moveId } = ref;
    const folder = newMoveFolder(this.#layout, 'arriving', ref);
    try {
      await keep(stream, folder);
      this.#placing.add(moveId);
      return await this.run('place', { organisationId, moveId, folder });
    } finally {
      this.#placing.delete(moveId);
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Takes away what is here of an organisation that is elsewhere. */
  empty({ organisationId, moveId, because }: EmptyInput): Promise<void> {
    return this.run('empty', { organisationId, moveId, because });
  }

  /** Deletes what has come, or was copied. */
  async clear(side: MoveSide, ref: MoveRef): Promise<void> {
    // One after the other and off the event loop: a folder may hold an organisation's uploads.
    for (const folder of moveFolders(this.#layout, side, ref)) await rm(folder, { recursive: true, force: true });
  }

  /** In a thread of its own. */
  protected run<Job extends keyof Jobs>(job: Job, input: Jobs[Job]['input']): Promise<Jobs[Job]['output']> {
    return new Promise((resolve, reject) => {
      const workerData = { dataDir: this.#layout.dir, job, input };
      // `.js`: the path of a worker is not an import, so the compiler does not rewrite its extension.
      const worker = new Worker(new URL('./move-thread.js', import.meta.url), { workerData, name: 'move' });
      worker.once('message', (verdict: MoveVerdict) => {
        if (verdict.ok) resolve(verdict.value as Jobs[Job]['output']);
        else reject(errorOf(verdict.failure));
      });
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread of ${job} ended with code ${code}`)));
    });
  }
}
