/** The jobs of parser processes: what each takes beside bytes, and what it answers. Plain data, which crosses to another process. */
import type { ImageQuestion, ImageVerdict } from '../images/image-verdict.ts';
import type { DocumentType, DocumentVerdict } from '../knowledge/extract-text.ts';

export interface ParseJobs {
  readonly document: { readonly input: DocumentType; readonly answer: DocumentVerdict };
  readonly image: { readonly input: ImageQuestion; readonly answer: ImageVerdict };
}

export type ParseJob = keyof ParseJobs;

export interface ParseRequest {
  readonly job: ParseJob;
  readonly input: object;
}

export type ParseAnswer = {
  readonly cpuMs: number;
  readonly rssMb: number;
} & (
  | { readonly ok: true; readonly value: unknown }
  /** `unavailable`: the job's library could not be loaded. */
  | { readonly ok: false; readonly failure: 'memory' | 'broken' | 'unavailable'; readonly message: string }
);
