/** Cuts a document into chunks: Markdown-aware, contiguous spans, no overlap; between two lie only blank space and headings. */
import { type MarkdownBlock, markdownBlocks, startsItem } from './markdown-blocks.ts';
import { sentenceSpans } from './sentences.ts';

/** Some 200 tokens: long enough to answer a question, short enough that a match says what the chunk is about. */
export const CHUNK_TARGET_CHARS = 900;
/** Six passages of this size fit beside a conversation in the smallest common context windows. */
export const CHUNK_MAX_CHARS = 1_600;
/** A chunk below this part of the target (an introducing line, a caption) may grow beyond the target with what follows. */
const SMALL_PART = 1 / 3;

export interface Chunk {
  readonly ordinal: number;
  readonly headings: readonly string[];
  /** At most the maximum in UTF-16 units, hence in code points. Never blank. */
  readonly text: string;
}

export interface ChunkOptions {
  readonly targetChars?: number;
  readonly maxChars?: number;
}

type Span = readonly [start: number, end: number];

function trimmed(source: string, span: Span): Span | undefined {
  const [start, end] = span;
  const length = source.slice(start, end).trimEnd().length;
  return length === 0 ? undefined : length === end - start ? span : [start, start + length];
}

/** A sentence or line that is too long for a chunk: cut at a line break, else at a blank, else anywhere but inside a character. */
function hardCuts(source: string, [start, end]: Span, max: number): Span[] {
  const cuts: Span[] = [];
  let from = start;
  while (end - from > max) {
    const window = source.slice(from, from + max);
    let size = window.lastIndexOf('\n') + 1;
    if (size < max / 2) size = Math.max(window.lastIndexOf(' '), window.lastIndexOf('\t')) + 1;
    if (size < max / 2) size = /[\uD800-\uDBFF]$/.test(window) ? max - 1 : max;
    cuts.push([from, from + size]);
    from += size;
  }
  cuts.push([from, end]);
  return cuts;
}

function sentenceCuts(source: string, [start, end]: Span, max: number): Span[] {
  return sentenceSpans(source.slice(start, end)).flatMap(([from, to]): Span[] => {
    const span: Span = [start + from, start + to];
    // Blank space after a sentence does not make it too long.
    return (trimmed(source, span) ?? span)[1] - span[0] <= max ? [span] : hardCuts(source, span, max);
  });
}

function lineGroups(source: string, [start, end]: Span, begins: (line: string) => boolean): Span[] {
  const groups: Span[] = [];
  let groupStart = start;
  for (let lineStart = start; lineStart < end; ) {
    const found = source.indexOf('\n', lineStart);
    const lineEnd = found === -1 || found >= end ? end : found + 1;
    if (lineStart > groupStart && begins(source.slice(lineStart, lineEnd))) {
      groups.push([groupStart, lineStart]);
      groupStart = lineStart;
    }
    lineStart = lineEnd;
  }
  groups.push([groupStart, end]);
  return groups;
}

/** A block that is too long for one chunk, in parts that are not: items, rows, lines or sentences. */
function partsOf(source: string, block: MarkdownBlock, max: number): Span[] {
  const whole: Span = [block.start, block.end];
  const size = ([start, end]: Span) => end - start;
  if (size(whole) <= max) return [whole];
  if (block.kind === 'paragraph' || block.kind === 'heading') return sentenceCuts(source, whole, max);
  const groups = block.kind === 'list' ? lineGroups(source, whole, startsItem) : [whole];
  return groups.flatMap((group) => {
    if (size(group) <= max) return [group];
    return lineGroups(source, group, () => true).flatMap((line) => (size(line) <= max ? [line] : sentenceCuts(source, line, max)));
  });
}

class Packer {
  readonly chunks: Chunk[] = [];
  readonly #source: string;
  readonly #target: number;
  readonly #max: number;
  #headings: readonly string[] = [];
  #open: Span | undefined;

  constructor(source: string, target: number, max: number) {
    this.#source = source;
    this.#target = target;
    this.#max = max;
  }

  add(part: Span, headings: readonly string[]): void {
    const span = trimmed(this.#source, part);
    if (span === undefined) return;
    const open = this.#open;
    // The same list of headings is the same section; an equal one may be another section of that name.
    if (open !== undefined && headings === this.#headings) {
      const joined = span[1] - open[0];
      const small = open[1] - open[0] < this.#target * SMALL_PART;
      if (joined <= (small ? this.#max : this.#target)) {
        this.#open = [open[0], span[1]];
        return;
      }
    }
    this.flush();
    this.#open = span;
    this.#headings = headings;
  }

  flush(): void {
    if (this.#open === undefined) return;
    const [start, end] = this.#open;
    this.chunks.push({ ordinal: this.chunks.length, headings: this.#headings, text: this.#source.slice(start, end) });
    this.#open = undefined;
  }
}

/**
 * Chunks of about `targetChars`, at most `maxChars` (UTF-16 units). A sentence, item, row or line is cut only when it exceeds the maximum by
 * itself; fenced code stays whole when it fits. Linear in the length of `text`.
 */
export function chunkText(text: string, options: ChunkOptions = {}): Chunk[] {
  const max = Math.max(2, options.maxChars ?? CHUNK_MAX_CHARS);
  const source = text.replace(/\r\n?/g, '\n').replace(/^\uFEFF/, '');
  const packer = new Packer(source, Math.min(options.targetChars ?? CHUNK_TARGET_CHARS, max), max);
  const blocks = markdownBlocks(source);
  const path: { level: number; title: string }[] = [];
  let headings: readonly string[] = [];
  for (const [index, block] of blocks.entries()) {
    let bare = false;
    if (block.kind === 'heading') {
      const next = blocks[index + 1];
      bare = next === undefined || (next.kind === 'heading' && next.level <= block.level);
      const depth = path.length;
      while ((path.at(-1)?.level ?? 0) >= block.level) path.pop();
      if (!bare) path.push(block);
      if (!bare || path.length !== depth) headings = path.map(({ title }) => title);
    }
    if (block.kind === 'heading' && !bare) continue;
    for (const part of partsOf(source, block, max)) packer.add(part, headings);
  }
  packer.flush();
  return packer.chunks;
}
