/**
 * The door to SVG: looks at the text, then has it made safe in a thread of its own. The thread is what bounds a hostile
 * document in time and memory, and what keeps a second of DOM work off the event loop that streams answers.
 */
import { isUtf8 } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { Refusal } from '../../protocol/errors.ts';
import type { SvgTask, SvgVerdict } from './svg-messages.ts';
import type { SafeSvg } from './svg-purifier.ts';

/** A thread is ready after a second and the largest SVG takes three more; a slow machine may need twice that. */
const TIME_MAX_MS = 15_000;
/** Five thousand elements take a tenth of it. */
const HEAP_MAX_MB = 256;
/** SVGs that may wait: one at a time is worked on. */
const WAITING_MAX = 8;
const RETRY_AFTER_S = 5;
/** An element has two tags at most. Counted before a DOM is built, because building it is what costs memory. */
const TAGS_MAX = 12_500;

const DECLARES_ENTITIES = 'The SVG declares entities. Export it as plain SVG.';
const TOO_COMPLEX = 'The SVG is too complex. Simplify it, or send it as PNG.';

function unsupported(message: string): Refusal {
  return new Refusal('unsupported_type', message);
}

const DOCTYPE = /<!DOCTYPE/i;

/**
 * The text without the declaration that names the standard's DTD in files of older programs, and says nothing. Looks for
 * each end once: a pattern that spans the declaration would begin anew at every one of a hundred thousand.
 */
function withoutDoctype(text: string): string {
  const start = text.search(DOCTYPE);
  if (start < 0) return text;
  const end = text.indexOf('>', start);
  if (end < 0 || DOCTYPE.test(text.slice(start + 1))) {
    throw unsupported('The SVG has a DOCTYPE without an end, or two. Export it as plain SVG.');
  }
  if (text.slice(start, end).includes('[')) throw unsupported(DECLARES_ENTITIES);
  return text.slice(0, start) + text.slice(end + 1);
}

/** The document's text without what comes before its root. @throws Refusal for what no logo needs. */
function readText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw unsupported('The SVG is not UTF-8. Export it in that encoding.');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .replace(/^\ufeff?\s*(?:<\?xml\s[^>]*\?>)?/, '');
  if (text.split('<', TAGS_MAX + 2).length > TAGS_MAX + 1) throw new Refusal('too_large', TOO_COMPLEX);
  if (/<!ENTITY/i.test(text)) throw unsupported(DECLARES_ENTITIES);
  return withoutDoctype(text);
}

function runThread(task: SvgTask): Promise<SvgVerdict> {
  const worker = new Worker(new URL('./svg-thread.js', import.meta.url), {
    workerData: task,
    name: 'svg',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
  });
  return new Promise<SvgVerdict>((resolve, reject) => {
    const tooComplex = () => resolve({ kind: 'refused', code: 'too_large', message: TOO_COMPLEX });
    const timer = setTimeout(tooComplex, TIME_MAX_MS);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') tooComplex();
      else reject(error);
    });
    worker.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the svg thread ended with ${code} before it answered`));
    });
  }).finally(() => worker.terminate());
}

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * The SVG, made safe: what acts or reaches outside is gone, the rest looks the same.
 * @throws Refusal unsupported_type, too_large (see svg-purifier.ts), rate_limited while too many wait.
 */
export async function safeSvg(bytes: Uint8Array): Promise<SafeSvg> {
  const task = { text: readText(bytes) };
  if (waiting >= WAITING_MAX) {
    throw new Refusal('rate_limited', 'Too many SVGs are being examined. Send it again in a few seconds.', { retryAfterS: RETRY_AFTER_S });
  }
  waiting += 1;
  const turn = last.then(() => runThread(task));
  last = turn.catch(() => {});
  try {
    const verdict = await turn;
    if (verdict.kind === 'safe') return verdict.svg;
    throw new Refusal(verdict.code, verdict.message);
  } finally {
    waiting -= 1;
  }
}
