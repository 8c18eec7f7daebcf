/**
 * A cheap fake of the service that answers every turn with words at a fixed pace, to measure how many streams the load tester itself can
 * hold on a machine. `node dist/bench/loadtest/slow-server.js [deltas] [pause in ms]`
 */

import uws from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { renderEvent, type StreamEvent } from '../../protocol/runtime/stream-events.ts';

const [deltas = 20, pauseMs = 1_000] = process.argv.slice(2).map(Number);
const WORDS = 'some more words ';

interface Told {
  readonly res: uws.HttpResponse;
  said: number;
}

/** Streams by the tick at which they are due, so that one timer serves all. */
const TICKS = 50;
const streams: Set<Told>[] = Array.from({ length: TICKS }, () => new Set());
const block = { index: 0, id: `blk_${'0'.repeat(24)}`, block_type: 'text' };
let tick = 0;

function frames(seq: number, ...events: StreamEvent[]): string {
  return events.map((event, at) => renderEvent(seq + at, event)).join('');
}

function opening(): string {
  const start = {
    type: 'turn.start',
    conversation_id: `cnv_${'0'.repeat(24)}`,
    message_id: `msg_${'0'.repeat(24)}`,
    model: 'slow-server',
    request_id: randomUUID(),
  } as const;
  return `: open\n\n${frames(0, start, { type: 'block.start', ...block })}`;
}

function ending(): string {
  const ready: StreamEvent = { type: 'block.ready', index: 0, block: { ...block, revision: 1, body: { md: WORDS.repeat(deltas) } } };
  return frames(deltas + 2, ready, { type: 'turn.end', status: 'completed', billable: false });
}

setInterval(() => {
  tick = (tick + 1) % TICKS;
  const due = streams[tick] as Set<Told>;
  for (const told of due) {
    const { res, said } = told;
    told.said += 1;
    if (said < deltas) res.cork(() => res.write(frames(said + 2, { type: 'block.delta', index: 0, text_delta: WORDS })));
    else {
      due.delete(told);
      res.cork(() => res.end(ending()));
    }
  }
}, pauseMs / TICKS);

uws
  .App()
  .get('/v1/apps/config', (res) => {
    res.writeHeader('Content-Type', 'application/json').end('{"channel":"draft","version":1,"available":true,"config":{}}');
  })
  .post('/v1/chat', (res) => {
    const told: Told = { res, said: 0 };
    const mine = streams[tick] as Set<Told>;
    res.onAborted(() => mine.delete(told));
    res.onData((_, isLast) => {
      if (!isLast) return;
      res.cork(() => {
        res.writeHeader('Content-Type', 'text/event-stream');
        res.write(opening());
      });
      mine.add(told);
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.stdout.write(`http://127.0.0.1:${uws.us_socket_local_port(socket)}\n`);
  });
