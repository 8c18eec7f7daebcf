/**
 * Reads documents of strangers where they can do no harm: each in a thread of its own, with a limit of time and of memory.
 * A document that is too much for its thread ends that thread and fails for that reason; nothing else notices.
 */
import { Worker } from 'node:worker_threads';
import type { DocumentBytes, ExtractedText } from './extract-text.ts';
import type { ExtractionAnswer } from './extraction-thread.ts';
import { LinkError } from './link-error.ts';

/** The largest honest pages take under two seconds on a slow core. */
export const EXTRACTION_TIMEOUT_MS = 10_000;
/** A page of 10 MB makes a DOM of some 150 MB. */
const HEAP_MAX_MB = 256;
/**
 * A thread's limit counts its heap, not its buffers, and a small PDF can unfold to gigabytes of them: so the growth of the
 * whole process is watched while a thread runs.
 */
const GROWTH_MAX_MB = 640;
/** In this time a stream unfolds to some 100 MB. */
const GROWTH_CHECK_MS = 200;
const MB = 1024 * 1024;

/** Threads at once; more would only share the cores, and each may take its memory. */
const THREADS_MAX = 2;

export interface ExtractionOptions {
  readonly timeoutMs?: number;
  readonly heapMaxMb?: number;
  readonly growthMaxMb?: number;
  readonly threads?: number;
}

export interface Extraction {
  /**
   * @throws LinkError when the document has no text, is damaged, or is too much for its thread; the reason of `signal` when
   * that ended it.
   */
  extract(document: DocumentBytes, signal?: AbortSignal): Promise<ExtractedText>;
}

interface Bounds {
  readonly timeoutMs: number;
  readonly heapMaxMb: number;
  readonly growthMaxMb: number;
}

const TOO_LONG = 'The document is too complicated: reading it took too long.';
const UNREADABLE = 'The document could not be read.';
const TOO_MUCH = 'The document is too complicated: reading it took too much memory.';

function startThread(document: DocumentBytes, heapMaxMb: number): Worker {
  // `.js`: the path of a worker is not an import, so the compiler does not rewrite its extension.
  const worker = new Worker(new URL('./extraction-thread.js', import.meta.url), {
    name: 'extraction',
    workerData: document,
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb, maxYoungGenerationSizeMb: 32 },
    env: {},
    stdout: true,
    stderr: true,
  });
  // What a library has to say about a stranger's document is nobody's business here.
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

function runThread(document: DocumentBytes, bounds: Bounds, signal: AbortSignal | undefined): Promise<ExtractedText> {
  signal?.throwIfAborted();
  const grownTo = process.memoryUsage.rss() + bounds.growthMaxMb * MB;
  const worker = startThread(document, bounds.heapMaxMb);
  return new Promise<ExtractedText>((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener('abort', stop);
      void worker.terminate();
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const stop = () => fail(signal?.reason);
    const timer = setTimeout(() => fail(new LinkError(TOO_LONG)), bounds.timeoutMs);
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() > grownTo) fail(new LinkError(TOO_MUCH));
    }, GROWTH_CHECK_MS);
    signal?.addEventListener('abort', stop, { once: true });
    worker.once('message', (answer: ExtractionAnswer) => {
      if (answer.ok) end(() => resolve(answer.value));
      else fail(new LinkError(answer.expected ? answer.message : UNREADABLE, { cause: answer.message }));
    });
    worker.once('error', (error: NodeJS.ErrnoException) => {
      fail(new LinkError(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? TOO_MUCH : UNREADABLE, { cause: error }));
    });
    worker.once('exit', () => fail(new LinkError(UNREADABLE)));
  });
}

/** Threads are started as documents come and end with them: nothing of one document is there for the next. */
export function createExtraction(options: ExtractionOptions = {}): Extraction {
  const { timeoutMs = EXTRACTION_TIMEOUT_MS, heapMaxMb = HEAP_MAX_MB, growthMaxMb = GROWTH_MAX_MB, threads = THREADS_MAX } = options;
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async extract(document, signal) {
      // As many wait as links are read at once: whoever fetches bounds this queue.
      if (running >= threads) await new Promise<void>((resolve) => waiting.push(resolve));
      else running += 1;
      try {
        return await runThread(document, { timeoutMs, heapMaxMb, growthMaxMb }, signal);
      } finally {
        // A place is handed on, not given back and taken again.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
