/** A request to the model as a person reads it. What differs from run to run (marks, ids, the time) is told as if it did not. Pure. */
import * as written from '../../assistant/models/openai/request-parts.ts';
import type { UpstreamRequest } from '../../tests/support/upstream.ts';

export type { Part } from '../../assistant/models/openai/request-parts.ts';

export function steady(text: string): string {
  return text
    .replaceAll(/<<(data|end):(?!000000000000)[0-9a-f]{12}/g, '<<$1:MARK')
    .replaceAll(/^Now: \w+ \d{4}-\d\d-\d\d \d\d:\d\d/gm, 'Now: Tuesday 2026-11-24 05:12')
    .replaceAll(/\b(blk|inv|msg|cnv|upl)_[0-9a-z]{20,}/g, '$1_…');
}

const steadyParts = (parts: readonly written.Part[]) => parts.map(({ title, text }) => ({ title, text: steady(text) }));

/** The messages behind the instructions. */
export const messageParts = (request: UpstreamRequest) => steadyParts(written.messageParts(request));
export const definitionParts = (request: UpstreamRequest) => steadyParts(written.definitionParts(request));
export const systemOf = (request: UpstreamRequest) => steady(written.systemOf(request));
