/** The door to a move's work on files: each piece runs in a thread of its own, as reading and hashing gigabytes holds a thread up. */
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { DataLayout } from '../data-layout.ts';
import { errorOf, type Failure } from '../sqlite/writer-messages.ts';
import type { ControlRows } from './control-rows.ts';
import type { Manifest, MoveRef } from './move-copy.ts';
import { type Content, contentPath, moveFolder } from './move-folders.ts';
import type { EmptyInput } from './move-place.ts';
import type { CopyRecord } from './moves.ts';

interface Jobs {
  copy: { input: MoveRef; output: CopyRecord };
  listCopy: { input: MoveRef & { readonly manifest: string }; output: Manifest };
  place: { input: MoveRef & { readonly manifest: string }; output: ControlRows };
  empty: { input: EmptyInput; output: undefined };
}

/** What a thread is started with. */
export type MoveTask = {
  [Job in keyof Jobs]: { readonly dataDir: string; readonly job: Job; readonly input: Jobs[Job]['input'] };
}[keyof Jobs];

export type MoveVerdict = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly failure: Failure };

/** Each rejects with a Refusal, or with a StorageError after which it may be tried again. */
export interface MoveFiles {
  /** Copies the sealed file with its manifest, and verifies the copy. */
  copy(ref: MoveRef): Promise<CopyRecord>;
  /** The manifest of a copy that was made here. */
  listCopy(ref: MoveRef & { readonly manifest: string }): Promise<Manifest>;
  /** Where the copy, or its manifest, lies. */
  copyPath(ref: MoveRef, content: Pick<Content, 'sha256'>): string;
  /** Verifies what has come and puts it in place, sealed. Returns its rows of the control file. */
  place(ref: MoveRef & { readonly manifest: string }): Promise<ControlRows>;
  /** Takes away what is here of an organisation that is elsewhere. */
  empty(input: EmptyInput): Promise<void>;
  /** Deletes what has come, or was copied. */
  clear(side: 'leaving' | 'arriving', ref: MoveRef): Promise<void>;
}

function run<Job extends keyof Jobs>(dataDir: string, job: Job, input: Jobs[Job]['input']): Promise<Jobs[Job]['output']> {
  return new Promise((resolve, reject) => {
    const workerData = { dataDir, job, input };
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

export function createMoveFiles(layout: DataLayout): MoveFiles {
  const { dir } = layout;
  return {
    copy: (ref) => run(dir, 'copy', ref),
    listCopy: (ref) => run(dir, 'listCopy', ref),
    copyPath: ({ organisationId, moveId }, { sha256 }) => contentPath(moveFolder(layout, 'leaving', organisationId, moveId), sha256),
    place: (ref) => run(dir, 'place', ref),
    empty: (input) => run(dir, 'empty', input),
    clear: (side, { organisationId, moveId }) => rm(moveFolder(layout, side, organisationId, moveId), { recursive: true, force: true }),
  };
}
