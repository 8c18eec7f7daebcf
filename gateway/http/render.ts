/** From what a route answered or threw to what goes out: the one place that renders replies, refusals and bugs. */
import type { Logger } from 'pino';
import { errorBody, Refusal } from '../../protocol/errors.ts';
import { isFenced, isRefusedByDisk, isRetryable, isUnavailable, storageErrorCodeOf } from '../../storage/sqlite/storage-error.ts';
import type { Reply } from '../route.ts';
import type { Exchange, Headers } from './exchange.ts';

const JSON_HEADERS: Headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** Long enough for a backlog of writes to clear. */
const OVERLOAD_RETRY_AFTER_S = 1;
/** A small organisation has moved by then; a large one takes more tries. */
const SEALED_RETRY_AFTER_S = 2;

/** A person has to put the file back; it is looked for every second. */
const UNAVAILABLE_RETRY_AFTER_S = 30;
/** The other host has the cell's address by then, or this one has proved that there is none. */
const FENCED_RETRY_AFTER_S = 5;
const FENCED = 'Another host may serve in place of this one, which stores nothing. Send the request again: it goes to the other one.';
/** A person has to make room, and it is noticed in seconds. */
const STORAGE_RETRY_AFTER_S = 5;

/** So many answers of 304 of a process are certain: 600 KB, if one client reads none of them. */
const UNCHANGED_FIRST = 1_000;
/** One in so many of the others is sent whole. */
const SENT_AGAIN_ONE_IN = 64;
let unchanged = 0;

/** uWebSockets tells whether an answer with a body was taken, but keeps one without. At random, so that none can pass it by. */
function isSentAgain(): boolean {
  unchanged += 1;
  return unchanged > UNCHANGED_FIRST && Math.random() * SENT_AGAIN_ONE_IN < 1;
}

/** Sends a complete reply. @throws when a JSON body cannot be serialized, which is a bug of its route. */
export function sendReply(exchange: Exchange, reply: Exclude<Reply, { kind: 'stream' }>): void {
  switch (reply.kind) {
    case 'json': {
      const headers = reply.headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...reply.headers };
      exchange.respond(reply.status, headers, JSON.stringify(reply.body));
      break;
    }
    case 'rendered-json':
      exchange.respond(reply.status, JSON_HEADERS, reply.body);
      break;
    case 'text':
    case 'bytes':
      exchange.respond(reply.status, reply.headers, reply.body);
      break;
    case 'tagged':
      if (reply.isUnchanged && !isSentAgain()) exchange.respond(304, reply.headers[304], null);
      else exchange.respond(200, reply.headers[200], reply.body);
      break;
    case 'empty':
      exchange.respond(reply.status, reply.headers ?? {}, null);
      break;
  }
}

/** Sends the error body of a refusal (HTTP-12). `more`: headers beside the usual ones. */
export function sendRefusal(exchange: Exchange, refusal: Refusal, more: Headers = {}): void {
  // A cell that asks at the wrong place asks on.
  if (refusal.status !== 421) exchange.refused(refusal.code);
  const retry = refusal.retryAfterS === undefined ? undefined : { 'Retry-After': String(refusal.retryAfterS) };
  exchange.respond(refusal.status, { ...JSON_HEADERS, ...more, ...retry }, JSON.stringify(errorBody(refusal)));
}

/** The refusal for a fault of the disk or of an organisation's file, or of a host that was replaced; undefined when the error is another one. */
function refusalOfMedium(error: unknown, exchange: Exchange): Refusal | undefined {
  if (isUnavailable(error)) {
    const file = exchange.interface === 'console' ? ` ${(error as Error).message}` : '';
    const message = `The organisation's data is not there at the moment. Nothing of it was changed. Send the request again later.${file}`;
    return new Refusal('organisation_unavailable', message, { retryAfterS: UNAVAILABLE_RETRY_AFTER_S });
  }
  if (isFenced(error)) return new Refusal('storage_unavailable', FENCED, { retryAfterS: FENCED_RETRY_AFTER_S });
  if (!isRefusedByDisk(error)) return undefined;
  const message = 'The service can store nothing at the moment. What is stored can be read. Send the request again later.';
  return new Refusal('storage_unavailable', message, { retryAfterS: STORAGE_RETRY_AFTER_S });
}

/** The refusal that stands for whatever was thrown. A bug is logged with its request id and says nothing about itself. */
export function refusalOf(error: unknown, log: Logger, exchange: Exchange, route: string): Refusal {
  if (error instanceof Refusal) return error;
  const context = { err: error, request_id: exchange.requestId, route };
  const refused = refusalOfMedium(error, exchange);
  if (refused !== undefined) {
    // The condition that holds has said it once; every request would say it again.
    log.debug(context, 'a request was refused because of a condition of this node');
    return refused;
  }
  if (isRetryable(error)) {
    log.warn(context, 'storage refused a write: the client was told to try again');
    const isSealed = storageErrorCodeOf(error) === 'sealed';
    // The setup interface knows 500 only. Some items of a batch may be saved; none is half written.
    const status = exchange.interface === 'setup' ? 500 : 503;
    const message = isSealed
      ? 'The organisation is being moved to another cell. Send the request again in a few seconds.'
      : 'The service is busy. Send the request again: what it has done already it will not do twice.';
    return new Refusal('internal', message, { status, retryAfterS: isSealed ? SEALED_RETRY_AFTER_S : OVERLOAD_RETRY_AFTER_S });
  }
  log.error(context, 'a request failed because of a bug');
  return new Refusal('internal', `Something went wrong on our side. Send the request again; its id is ${exchange.requestId}.`);
}
