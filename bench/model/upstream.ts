/**
 * The model for the benchmarks: an OpenAI-compatible chat-completions stream that costs almost nothing to make.
 * Model `fake-<N>-<D>` sends N tokens of TOKEN_CHARS characters, D ms apart (0: one write per loop tick of this process,
 * for every stream); `-b<K>` puts K tokens in one socket write, K × D ms apart. The first write comes one such
 * interval after the request, the end right after the last token. Models that call something are in `scripted-model.ts`.
 * `GET /served` says how many requests were answered so far and how many bytes they had, `GET /held` how many slow streams are under way,
 * and `POST /hurry` ends those.
 * Owns the timer wheel that paces every stream; no stream has a timer of its own. `--port P` says where it listens.
 */
import type { HttpResponse } from 'uWebSockets.js';
import uWebSockets from 'uWebSockets.js';
import { completionChunk, DONE, usageChunk } from '../../tests/support/completions.ts';
import { NotInScript, scriptedAnswer } from './scripted-model.ts';

/** A stream holds at most this many tokens, so that a reader that never reads costs a few MB and no more. */
const TOKENS_MAX = 10_000;
/** Slots of one millisecond. A power of two makes the index a mask. */
const WHEEL_SLOTS = 4_096;
/** Half of the wheel: if the wheel lags, it cannot take a far slot for a near one. */
const INTERVAL_MAX_MS = WHEEL_SLOTS / 2;
/** A request body beyond this is no chat of a benchmark. */
const BODY_MAX_BYTES = 1024 * 1024;
/** Models with their prepared bytes; a run uses a handful. */
const PLANS_MAX = 64;

/** TOKEN_CHARS characters each; no digits, so nothing in the text looks like a number to be hidden. */
const WORDS = [
  'the ',
  'sun ',
  'was ',
  'low ',
  'and ',
  'one ',
  'oak ',
  'had ',
  'its ',
  'own ',
  'way ',
  'out ',
  'too ',
  'far ',
  'off ',
  'now ',
];

type Plan = ReturnType<typeof prepared>;

interface Stream {
  readonly res: HttpResponse;
  readonly plan: Plan;
  readonly withUsage: boolean;
  next: number;
  dueMs: number;
  blocked: boolean;
  gone: boolean;
}

const plans = new Map<string, Plan>();
const served = { requests: 0, bytes: 0 };
const encoder = new TextEncoder();

function planOf(model: string): Plan | undefined {
  const known = plans.get(model);
  if (known !== undefined) return known;
  const match = /^fake-(\d+)-(\d+)(?:-b(\d+))?$/.exec(model);
  if (match === null || plans.size >= PLANS_MAX) return undefined;
  const tokens = Number(match[1]);
  const burst = Math.max(1, Number(match[3] ?? '1'));
  const intervalMs = Number(match[2]) * burst;
  if (tokens < 1 || tokens > TOKENS_MAX || intervalMs > INTERVAL_MAX_MS) return undefined;
  const pieces = Array.from({ length: tokens }, (_, i) => completionChunk(model, { content: WORDS[i % WORDS.length] }));
  const writes: string[] = [];
  for (let i = 0; i < tokens; i += burst) writes.push(pieces.slice(i, i + burst).join(''));
  const plan = prepared(model, writes, { intervalMs, tokens, finish: 'stop' });
  plans.set(model, plan);
  return plan;
}

interface Ending {
  readonly intervalMs: number;
  readonly tokens: number;
  readonly finish: string;
}

function prepared(model: string, writes: readonly string[], { intervalMs, tokens, finish }: Ending) {
  const stop = completionChunk(model, {}, finish);
  const usage = usageChunk(model, { prompt_tokens: 12, completion_tokens: tokens });
  return {
    intervalMs,
    head: encoder.encode(completionChunk(model, { role: 'assistant', content: '' })),
    writes: writes.map((events) => encoder.encode(events)),
    tail: encoder.encode(stop + DONE),
    tailWithUsage: encoder.encode(stop + usage + DONE),
  };
}

/** What is answered to this request, or why nothing is. */
function planFor(body: string): Plan | string {
  const model = /"model"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? '';
  if (!/"stream"\s*:\s*true/.test(body)) return 'Only streams are served here.';
  try {
    const scripted = scriptedAnswer(model, body);
    if (scripted !== undefined)
      return prepared(model, scripted.writes, { intervalMs: 0, tokens: scripted.writes.length, finish: scripted.finish });
  } catch (error) {
    if (error instanceof NotInScript || error instanceof SyntaxError) return `${model}: ${error.message}`;
    throw error;
  }
  return planOf(model) ?? 'Models are named fake-<N>-<D>[-b<K>], or as a script.';
}

function advance(stream: Stream): boolean {
  if (stream.gone) return false;
  if (stream.blocked) return true;
  const { res, plan } = stream;
  const bytes = plan.writes[stream.next++];
  if (bytes === undefined) {
    stream.gone = true;
    res.cork(() => res.end(stream.withUsage ? plan.tailWithUsage : plan.tail));
    return false;
  }
  res.cork(() => {
    stream.blocked = !res.write(bytes);
  });
  return true;
}

// Streams without a delay: one write each per loop tick.
let ready: Stream[] = [];
let isAdvancing = false;

function advanceAll(): void {
  ready = ready.filter(advance);
  isAdvancing = ready.length > 0;
  if (isAdvancing) setImmediate(advanceAll);
}

// Streams with a delay: the wheel runs only while it holds one.
const wheel: Stream[][] = Array.from({ length: WHEEL_SLOTS }, () => []);
let wheelMs = 0;
let held = 0;
let ticker: NodeJS.Timeout | undefined;

function hold(stream: Stream): void {
  if (ticker === undefined) {
    wheelMs = Math.floor(performance.now());
    ticker = setInterval(tick, 1);
  }
  // A stream that fell behind goes to the next slot to be visited, never to one already passed.
  stream.dueMs = Math.max(stream.dueMs, wheelMs + 1);
  wheel[stream.dueMs & (WHEEL_SLOTS - 1)]?.push(stream);
  held++;
}

function tick(): void {
  const nowMs = Math.floor(performance.now());
  while (wheelMs < nowMs) {
    wheelMs++;
    const slot = wheelMs & (WHEEL_SLOTS - 1);
    const due = wheel[slot] ?? [];
    if (due.length === 0) continue;
    wheel[slot] = [];
    held -= due.length;
    for (const stream of due) {
      if (!advance(stream)) continue;
      // The tail follows the last token at once.
      if (stream.next >= stream.plan.writes.length && !stream.blocked) {
        advance(stream);
        continue;
      }
      stream.dueMs += stream.plan.intervalMs;
      hold(stream);
    }
  }
  if (held > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

/** Ends of hurried streams, a tick: a server that has to store them bears as many a second as turns. */
const HURRIED_A_TICK = 15;
const HURRY_TICK_MS = 10;

/**
 * Ends the streams under way with all that is left of each: who has looked long enough at slow streams need not wait for their ends, and
 * finds them whole all the same.
 */
function hurry(): void {
  const left = wheel.flatMap((slot) => slot.splice(0));
  held -= left.length;
  const timer = setInterval(() => {
    for (const { res, plan, withUsage, next, gone } of left.splice(0, HURRIED_A_TICK)) {
      if (!gone) res.cork(() => res.end(Buffer.concat([...plan.writes.slice(next), withUsage ? plan.tailWithUsage : plan.tail])));
    }
    if (left.length === 0) clearInterval(timer);
  }, HURRY_TICK_MS);
}

function begin(res: HttpResponse, body: string): Stream | undefined {
  const plan = planFor(body);
  if (typeof plan === 'string') {
    res.cork(() => {
      res.writeStatus('400 Bad Request').writeHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ error: { message: plan, type: 'invalid_request_error', code: 'model_not_found' } }));
    });
    return undefined;
  }
  served.requests++;
  served.bytes += body.length;
  const withUsage = /"include_usage"\s*:\s*true/.test(body);
  const stream: Stream = { res, plan, withUsage, next: 0, dueMs: 0, blocked: false, gone: false };
  res.onWritable(() => {
    stream.blocked = false;
    return true;
  });
  res.cork(() => {
    res.writeStatus('200 OK').writeHeader('Content-Type', 'text/event-stream; charset=utf-8');
    res.writeHeader('Cache-Control', 'no-cache');
    res.write(plan.head);
  });
  if (plan.intervalMs > 0) {
    // Rounded up: a token is never early.
    stream.dueMs = Math.ceil(performance.now()) + plan.intervalMs;
    hold(stream);
    return stream;
  }
  ready.push(stream);
  if (!isAdvancing) {
    isAdvancing = true;
    setImmediate(advanceAll);
  }
  return stream;
}

function serve(port: number): void {
  uWebSockets
    .App()
    .get('/healthz', (res) => {
      res.end('ok');
    })
    .get('/served', (res) => {
      res.end(JSON.stringify(served));
    })
    .get('/held', (res) => {
      res.end(`${held}`);
    })
    .post('/hurry', (res) => {
      hurry();
      res.end('ok');
    })
    .post('/v1/chat/completions', (res) => {
      let stream: Stream | undefined;
      let aborted = false;
      let size = 0;
      const parts: Buffer[] = [];
      res.onAborted(() => {
        aborted = true;
        if (stream !== undefined) stream.gone = true;
      });
      res.onData((part, isLast) => {
        size += part.byteLength;
        if (aborted || size > BODY_MAX_BYTES) {
          if (!aborted) res.close();
          return;
        }
        // The memory of `part` is taken back after this callback.
        parts.push(Buffer.from(Buffer.from(part)));
        if (isLast) stream = begin(res, Buffer.concat(parts).toString('latin1'));
      });
    })
    .any('/*', (res) => {
      res.writeStatus('404 Not Found').end('{"error":{"message":"No such path."}}');
    })
    .listen('127.0.0.1', port, (socket) => {
      if (socket) return;
      process.stderr.write(`bench upstream: port ${port} is taken\n`);
      process.exit(1);
    });
}

serve(Number(process.argv[process.argv.indexOf('--port') + 1]));
