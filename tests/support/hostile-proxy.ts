/**
 * What may stand between a client and the service, at its worst: an HTTP proxy that passes everything on, and spoils streams as it is told,
 * event by event. It spoils each turn once, so that what it did can be counted beside what a client found.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

export interface Mischief {
  /** Every so many events one is left out. */
  readonly dropEvery?: number;
  /** … is sent twice, is held back, is followed by the end of the connection. */
  readonly doubleEvery?: number;
  readonly delayEvery?: number;
  readonly delayMs?: number;
  readonly cutEvery?: number;
}

export interface HostileProxy {
  readonly url: string;
  /** How often it did what. */
  readonly done: { dropped: number; doubled: number; delayed: number; cut: number };
}

type Deed = 'drop' | 'double' | 'delay' | 'cut';

const TYPE = /^event: (.+)$/m;

/** A turn's deltas begin an answer; before them nobody could tell a delay from a model that thinks. */
function isDelta(frame: string): boolean {
  return TYPE.exec(frame)?.[1] === 'block.delta';
}

class Spoiler {
  readonly #mischief: Mischief;
  readonly done = { dropped: 0, doubled: 0, delayed: 0, cut: 0 };
  #events = 0;
  /** What is due and found no event yet that it fits. */
  readonly #due: Deed[] = [];

  constructor(mischief: Mischief) {
    this.#mischief = mischief;
  }

  /** What becomes of this event, the `n`-th of its stream. */
  deedFor(frame: string, hadDelta: boolean): Deed | undefined {
    const { dropEvery, doubleEvery, delayEvery, cutEvery } = this.#mischief;
    this.#events += 1;
    const is = (every: number | undefined): boolean => every !== undefined && this.#events % every === 0;
    if (is(dropEvery)) this.#due.push('drop');
    if (is(doubleEvery)) this.#due.push('double');
    if (is(delayEvery)) this.#due.push('delay');
    if (is(cutEvery)) this.#due.push('cut');
    const fits = this.#due.findIndex((deed) => (deed === 'delay' ? hadDelta && isDelta(frame) : deed !== 'cut' || isDelta(frame)));
    return fits < 0 ? undefined : this.#due.splice(fits, 1)[0];
  }
}

/** Passes one stream on, frame by frame. */
async function passStream(from: IncomingMessage, to: ServerResponse, spoiler: Spoiler, delayMs: number): Promise<void> {
  let held = '';
  let isSpoilt = false;
  let hadDelta = false;
  for await (const chunk of from.setEncoding('utf8')) {
    const frames = (held + chunk).split('\n\n');
    held = frames.pop() ?? '';
    for (const frame of frames) {
      if (to.destroyed) return;
      const isEvent = frame.includes('id: ') && TYPE.exec(frame)?.[1] !== 'ping';
      const deed: Deed | undefined = isEvent && !isSpoilt ? spoiler.deedFor(frame, hadDelta) : undefined;
      isSpoilt ||= deed !== undefined;
      hadDelta ||= isDelta(frame);
      if (deed === 'drop') {
        spoiler.done.dropped += 1;
        continue;
      }
      if (deed === 'delay') {
        spoiler.done.delayed += 1;
        await pause(delayMs);
      }
      to.write(`${frame}\n\n`);
      if (deed === 'double') {
        spoiler.done.doubled += 1;
        to.write(`${frame}\n\n`);
      }
      if (deed === 'cut') {
        spoiler.done.cut += 1;
        // What was written goes out first.
        to.write('', () => to.socket?.resetAndDestroy());
        from.destroy();
        return;
      }
    }
  }
  to.end(held);
}

/** Starts the proxy in front of a service, for as long as the test lasts. */
export async function startHostileProxy(t: TestContext, origin: string, mischief: Mischief): Promise<HostileProxy> {
  const spoiler = new Spoiler(mischief);
  const server = createServer((req, res) => {
    const onward = httpRequest(new URL(req.url ?? '/', origin), { method: req.method ?? 'GET', headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      const isStream = String(answer.headers['content-type']).startsWith('text/event-stream');
      // A stream of an earlier turn is passed on as it is: what is taken up again after a cut is whole.
      if (isStream && req.method === 'POST') passStream(answer, res, spoiler, mischief.delayMs ?? 0).catch(() => res.destroy());
      else answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, done: spoiler.done };
}
