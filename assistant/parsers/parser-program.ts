/** Parses one document of a stranger after the other. Ends with its channel, or by its watch thread should it be stuck. */
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type Frame, FrameReader, frameStart } from './frames.ts';
import type { ParseAnswer, ParseJob, ParseRequest } from './parse-jobs.ts';

/** The descriptor that the channel comes by: it and the three usual ones, which lead nowhere, are all that a parser has. */
const CHANNEL_FD = 3;
/** An upload or a link has 20 MB at most. */
const DOCUMENT_MAX_BYTES = 32 * 1024 * 1024;
const MB = 1024 * 1024;

type Judge = (input: object, bytes: Frame['body']) => Promise<unknown>;

/** Loaded when they are needed: a process that parses plain text starts in a tenth of the time. */
const JOBS: Readonly<Record<ParseJob, () => Promise<Judge>>> = {
  document: async () => (await import('../knowledge/extract-text.ts')).judgeDocument as Judge,
  image: async () => (await import('../images/image-verdict.ts')).judgeImage as Judge,
};

const OUT_OF_MEMORY =
  /allocation failed|out of memory|Invalid (?:array buffer|string|typed array|array) length|Cannot create a string longer/i;

type Outcome = { ok: true; value: unknown } | { ok: false; failure: 'memory' | 'broken' | 'unavailable'; message: string };

async function outcomeOf({ head, body }: Frame): Promise<Outcome> {
  let judge: Judge | undefined;
  try {
    const { job, input } = head as ParseRequest;
    judge = await JOBS[job]();
    return { ok: true, value: await judge(input, body) };
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const failure = OUT_OF_MEMORY.test(message) ? 'memory' : judge === undefined ? 'unavailable' : 'broken';
    return { ok: false, failure, message: message.slice(0, 1_000) };
  }
}

const channel = new Socket({ fd: CHANNEL_FD });
const frames = new FrameReader(DOCUMENT_MAX_BYTES);

channel.on('data', async (piece) => {
  const frame = frames.push(piece);
  if (frame === undefined) return;
  const outcome = await outcomeOf(frame);
  const { user, system } = process.cpuUsage();
  const answer: ParseAnswer = { ...outcome, cpuMs: (user + system) / 1_000, rssMb: process.memoryUsage.rss() / MB };
  channel.write(frameStart(answer, 0));
});
channel.on('error', () => process.exit(1));
channel.on('close', () => process.exit(0));

const [parentPid, watchMb] = process.argv.slice(2).map(Number);
new Worker(new URL('./watch-thread.js', import.meta.url), {
  name: 'watch',
  workerData: { parentPid, watchMb },
  resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 4, stackSizeMb: 1 },
}).unref();
