/** The body of the thread that does one piece of a move's work on files, which may take minutes. Ends when it has answered. */
import { parentPort, workerData } from 'node:worker_threads';
import { dataLayout } from '../data-layout.ts';
import { failureOf } from '../sqlite/writer-messages.ts';
import { copyOrganisation, readManifest } from './move-copy.ts';
import type { MoveTask, MoveVerdict } from './move-files.ts';
import { moveFolder } from './move-folders.ts';
import { emptyOrganisation, placeOrganisation } from './move-place.ts';

async function perform({ dataDir, job, input }: MoveTask): Promise<unknown> {
  const layout = dataLayout(dataDir);
  const { organisationId, moveId } = input;
  switch (job) {
    case 'copy':
      return copyOrganisation(layout, input);
    case 'listCopy':
      return readManifest(moveFolder(layout, 'leaving', organisationId, moveId), input.manifest, input);
    case 'place':
      return placeOrganisation(layout, input);
    case 'empty':
      return emptyOrganisation(layout, input);
  }
}

async function verdict(task: MoveTask): Promise<MoveVerdict> {
  try {
    return { ok: true, value: await perform(task) };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

parentPort?.postMessage(await verdict(workerData as MoveTask));
