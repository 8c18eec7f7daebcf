/** The body of an extraction's thread: reads one document, answers once, ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { type DocumentBytes, type ExtractedText, extractText } from './extract-text.ts';
import { LinkError } from './link-error.ts';

export type ExtractionAnswer =
  | { readonly ok: true; readonly value: ExtractedText }
  /** `expected`: a LinkError's sentence; else what a bug or a hostile document threw. */
  | { readonly ok: false; readonly expected: boolean; readonly message: string };

async function answer(): Promise<ExtractionAnswer> {
  try {
    return { ok: true, value: await extractText(workerData as DocumentBytes) };
  } catch (error) {
    return { ok: false, expected: error instanceof LinkError, message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(await answer());
