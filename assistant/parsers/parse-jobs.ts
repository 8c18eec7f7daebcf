/** The jobs of parser processes, by name: what each takes beside bytes, and what it answers. Plain data, because it crosses to another process. */

import type { ImageQuestion, ImageVerdict } from '../images/image-verdict.ts';
import type { DocumentType, DocumentVerdict } from '../knowledge/extract-text.ts';

export interface ParseJobs {
  /** The bytes are a document. */
  readonly document: { readonly input: DocumentType; readonly answer: DocumentVerdict };
  readonly image: { readonly input: ImageQuestion; readonly answer: ImageVerdict };
}

export type ParseJob = keyof ParseJobs;

/** The head of what a parser is sent. */
export interface ParseRequest {
  readonly job: ParseJob;
  readonly input: object;
}

/** The head of what it answers. */
export type ParseAnswer = {
  /** CPU time of its life so far. */
  readonly cpuMs: number;
  /** Its resident memory. */
  readonly rssMb: number;
} & (
  | { readonly ok: true; readonly value: unknown }
  /** `unavailable`: the job's library could not be loaded. */
  | { readonly ok: false; readonly failure: 'memory' | 'broken' | 'unavailable'; readonly message: string }
);
