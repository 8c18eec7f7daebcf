/** From a route to its answer (CHAT-15). Synchronous where the route is: small answers leave in the callback that brought the request. */
import type { Cells } from '../actors/cells/cells.ts';
import { Refusal } from '../protocol/errors.ts';
import type { AppRecord } from '../storage/apps/apps.ts';
import type { Channel } from '../storage/organisations/organisations.ts';
import { isOrphaned } from '../storage/sqlite/storage-error.ts';
import { section } from '../watch/sections.ts';
import { authenticateCell } from './cells/access.ts';
import { serveOrForward } from './cells/forwarding.ts';
import { requireApp } from './console/app-read.ts';
import { authenticateOperator, endExpiredSession, isCookieOfOurs } from './console/operator-session.ts';
import { authenticateRuntime } from './credentials.ts';
import type { Exchange } from './http/exchange.ts';
import { collectUpload } from './http/multipart.ts';
import { refusalOf, sendRefusal, sendReply } from './http/render.ts';
import { type AdmittedRequest, bringsRefusable, readBody } from './http/request-body.ts';
import type { EventStreams } from './http/sse.ts';
import { refuseUnread } from './overload.ts';
import type { RateBuckets } from './rate-limit.ts';
import { type Brought, NOTHING_BROUGHT, RequestInput } from './request-input.ts';
import {
  type Admitted,
  type AdmittedCaller,
  type RateLimit,
  type Reply,
  type Route,
  type RuntimeCaller,
  type RuntimeRoute,
  routeName,
  type UploadedFile,
  type UploadRule,
} from './route.ts';
import { signedPersonOf } from './runtime/identity.ts';
import type { Services } from './services.ts';
import { setupCallOf, setupSessionOf } from './setup/addresses.ts';

/** Checks once more what the request names. @throws Refusal when it is gone */
function lookAgain({ caller }: Route, exchange: Exchange, services: Services): void {
  if (caller === 'runtime') authenticateRuntime(exchange, services);
  if (caller === 'setup') setupCallOf(exchange.header, services);
  if (caller === 'setup_claimant') setupSessionOf(exchange.header, services);
  if (exchange.params.app !== undefined) requireApp(services, exchange.params.app);
}

/** The error to send instead of `error`: for an orphaned write, what the same request would get a moment later. */
function refusalOfOrphan(error: unknown, route: Route, exchange: Exchange, services: Services): unknown {
  if (!isOrphaned(error)) return error;
  try {
    lookAgain(route, exchange, services);
  } catch (refusal) {
    return refusal;
  }
  services.log.warn(
    { err: error, request_id: exchange.requestId },
    'a write came too late: what it belongs to was deleted at the same moment',
  );
  const message = 'What this belongs to was deleted at the same moment. Send the request again.';
  // The setup interface knows 500 only.
  return new Refusal('internal', message, { status: exchange.interface === 'setup' ? 500 : 503, retryAfterS: 1 });
}

type Headers = (name: string) => string;

function writing({ caller }: Route, error: unknown, header: Headers, services: Services): Promise<void> | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (caller === 'operator' && error.code === 'invalid_token') return endExpiredSession(header, services);
  if (caller === 'setup' && error.code === 'session_closed') return services.setup.sessions.expire(setupSessionOf(header, services));
  return undefined;
}

/** Await it before `error` is sent to the caller of the route; never rejects. Undefined: there is nothing to write. */
function recordExpiry(route: Route, error: unknown, header: Headers, services: Services): Promise<void> | undefined {
  const unwritten = (reason: unknown) =>
    services.log.warn({ err: reason }, 'storing that a session or pairing expired failed: callers are told that it expired');
  try {
    return writing(route, error, header, services)?.catch(unwritten);
  } catch (reason) {
    unwritten(reason);
    return undefined;
  }
}

export interface Gate {
  readonly services: Services;
  readonly buckets: RateBuckets;
  readonly streams: EventStreams;
}

function refuseWhileSuspended(route: RuntimeRoute, { app }: RuntimeCaller): void {
  if (route.suspended === undefined || !app.settings.suspended) return;
  throw new Refusal(route.suspended, 'The app is suspended. Whoever runs the service can say why and lift it.');
}

class Counted implements AdmittedCaller {
  readonly app: AppRecord;
  readonly appId: string;
  readonly organisationId: string;
  readonly channel: Channel;
  readonly deviceId: string;
  readonly person: string | null;
  readonly #caller: RuntimeCaller;
  readonly #buckets: RateBuckets;
  #limits: readonly RateLimit[];
  /** Who signed, as limits count. */
  #signer: string | null;
  /** A turn takes it along. */
  readonly minuteLeft = (): number => Math.min(...this.#limits.map((limit) => this.#buckets.left(limit, this.#caller, this.#signer)));

  constructor(caller: RuntimeCaller, limits: readonly RateLimit[], signer: string | null, buckets: RateBuckets) {
    this.app = caller.app;
    this.appId = caller.appId;
    this.organisationId = caller.organisationId;
    this.channel = caller.channel;
    this.deviceId = caller.deviceId;
    this.person = caller.person;
    this.#caller = caller;
    this.#buckets = buckets;
    this.#limits = limits;
    this.#signer = signer;
    buckets.pass(limits, caller, signer);
  }

  get address(): string {
    return this.#caller.address;
  }

  pass(further: readonly RateLimit[], signer: string | null): void {
    this.#buckets.pass(further, this.#caller, signer);
    this.#signer = signer;
    this.#limits = [...this.#limits, ...further];
  }

  giveBack(): void {
    this.#buckets.giveBack(this.#limits, this.#caller, this.#signer);
  }
}

function admitCounted({ limits }: RuntimeRoute, caller: RuntimeCaller, { header }: Exchange, { services, buckets }: Gate): AdmittedCaller {
  const asksWho = limits.some(({ scope }) => scope === 'person');
  return new Counted(caller, limits, asksWho ? signedPersonOf(caller, header, services) : null, buckets);
}

function admit(route: Route, exchange: Exchange, gate: Gate): Admitted {
  const { services, buckets } = gate;
  switch (route.caller) {
    case 'runtime': {
      const caller = authenticateRuntime(exchange, services);
      refuseWhileSuspended(route, caller);
      const counted = admitCounted(route, caller, exchange, gate);
      services.billing.seen(caller);
      return { kind: 'runtime', caller: counted };
    }
    case 'setup_claimant':
    case 'setup': {
      const ref = setupSessionOf(exchange.header, services);
      buckets.passSession(ref.sessionId);
      return route.caller === 'setup' ? admitAgent(exchange, services) : { kind: 'setup_claimant', caller: ref };
    }
    case 'cell':
      return { kind: 'cell', caller: authenticateCell(exchange, services.cells) };
    case 'operator':
      if (exchange.isOperator) return { kind: 'operator', caller: null };
      // Before the comparison: otherwise the answer would still tell a right token from a wrong one.
      if (exchange.header('authorization') !== '') buckets.refuseGuesses('operator', exchange.address);
      authenticateOperator(exchange.header, exchange.method, services);
      return { kind: 'operator', caller: null };
    case 'anyone':
      return { kind: 'anyone', caller: null };
  }
}

function admitAgent({ header }: Exchange, services: Services): Admitted {
  return { kind: 'setup', caller: setupCallOf(header, services) };
}

/** Checks the caller once more after the body: meanwhile a setup token may have ended, or its app gone live. @throws Refusal */
function admitAgain(admitted: Admitted, exchange: Exchange, { services }: Gate): Admitted {
  if (services.cells != null) refuseGone(admitted, services.cells);
  if (admitted.kind === 'setup_claimant') return { kind: admitted.kind, caller: setupSessionOf(exchange.header, services) };
  return admitted.kind === 'setup' ? admitAgent(exchange, services) : admitted;
}

function organisationOf({ kind, caller }: Admitted): string | undefined {
  if (kind === 'runtime' || kind === 'setup_claimant') return caller.organisationId;
  return kind === 'setup' ? caller.ref.organisationId : undefined;
}

/** The organisation may have moved to another cell while the body arrived. @throws Refusal 503 */
function refuseGone(admitted: Admitted, { directory, self }: Cells): void {
  const organisationId = organisationOf(admitted);
  if (organisationId === undefined || directory.whereabouts(organisationId)?.cell === self.id) return;
  throw new Refusal('internal', 'The organisation has just moved to another cell. Send the request again.', {
    status: 503,
    retryAfterS: 1,
  });
}

/** Answers the exchange, or has another cell answer it. Never throws: errors are rendered. */
export function dispatch(route: Route, exchange: Exchange, gate: Gate): void {
  section(routeName(route), exchange.requestId, () => begin(route, exchange, gate));
}

/** Counts a wrong bearer or cookie for its address. Returns the error to send: after too many, that one. */
function throttled(error: unknown, { caller }: Route, { address, header }: Exchange, { buckets, services }: Gate): unknown {
  // A publishable key is public, so guessing one gains nothing.
  if (caller === 'anyone' || caller === 'runtime' || !(error instanceof Refusal) || error.code !== 'invalid_token') return error;
  if (caller === 'operator' && isCookieOfOurs(header, services)) return error;
  try {
    buckets.failed(caller === 'setup_claimant' ? 'setup' : caller, address);
    return error;
  } catch (tooMany) {
    return tooMany;
  }
}

function begin(route: Route, exchange: Exchange, gate: Gate): void {
  const { services } = gate;
  const { cells } = services;
  const fail = (error: unknown) => {
    const told = throttled(refusalOfOrphan(error, route, exchange, services), route, exchange, gate);
    const tell = () => sendRefusal(exchange, refusalOf(told, services.log, exchange, routeName(route)));
    const kept = recordExpiry(route, error, exchange.header, services);
    if (kept === undefined) {
      tell();
      return;
    }
    exchange.detach();
    void kept.then(() => section(routeName(route), exchange.requestId, tell));
  };
  if (cells == null || route.caller === 'cell') {
    serve(route, exchange, gate, fail);
    return;
  }
  try {
    serveOrForward({ route, exchange, services, cells, buckets: gate.buckets, serve: () => serve(route, exchange, gate, fail), fail });
  } catch (error) {
    fail(error);
  }
}

function serve(route: Route, exchange: Exchange, gate: Gate, fail: (error: unknown) => void): void {
  try {
    refuseUnread(route, exchange, gate.services);
    const admitted = admit(route, exchange, gate);
    if (route.upload !== undefined) readUpload({ route, exchange, admitted }, route.upload, gate, fail);
    else if (route.streamed || (route.body === undefined && !bringsRefusable(exchange)))
      run({ route, exchange, admitted }, NOTHING_BROUGHT, gate, fail);
    else
      readBody(
        { route, exchange, admitted },
        gate,
        (body) => runAgain({ route, exchange, admitted }, { body, upload: null }, gate, fail),
        fail,
      );
  } catch (error) {
    fail(error);
  }
}

function readUpload(request: AdmittedRequest, rule: UploadRule, gate: Gate, fail: (error: unknown) => void): void {
  const { route, exchange, admitted } = request;
  const place = admitted.kind === 'runtime' ? rule.enter?.(admitted.caller, gate.services) : undefined;
  const leave = () => place?.leave();
  const refuse = (error: unknown) => {
    leave();
    fail(error);
  };
  const take = (upload: UploadedFile) => {
    try {
      const answered = runAgain(request, { body: null, upload }, gate, fail);
      if (answered === undefined) leave();
      else void answered.finally(leave);
    } catch (error) {
      refuse(error);
    }
  };
  const done = (upload: UploadedFile) => section(routeName(route), exchange.requestId, () => take(upload));
  try {
    collectUpload(exchange, rule, { place, done, refuse });
  } catch (error) {
    refuse(error);
  }
}

/** Runs the route with the body or file; returns what `run` does. @throws Refusal when the caller is no longer admitted */
function runAgain(request: AdmittedRequest, brought: Brought, gate: Gate, fail: (error: unknown) => void): Promise<void> | undefined {
  return run({ ...request, admitted: admitAgain(request.admitted, request.exchange, gate) }, brought, gate, fail);
}

/** The promise settles once the exchange was answered; undefined: it was answered at once. */
function run(
  { route, exchange, admitted }: AdmittedRequest,
  brought: Brought,
  gate: Gate,
  fail: (error: unknown) => void,
): Promise<void> | undefined {
  // Here and not at its first write alone: a retry of what this host has finished writes nothing, and the cell may have lost it (CELL-17).
  if (gate.services.cells != null && route.method !== 'GET') gate.services.storage.requireLease();
  const outcome = route.handle(new RequestInput(exchange, admitted, brought), gate.services);
  if (!(outcome instanceof Promise)) {
    send(route, exchange, gate, outcome);
    return undefined;
  }
  exchange.detach();
  return outcome.then((reply) => section(routeName(route), exchange.requestId, () => send(route, exchange, gate, reply))).catch(fail);
}

function send(route: Route, exchange: Exchange, gate: Gate, reply: Reply): void {
  if (reply.kind !== 'stream') {
    if (reply.kind === 'tagged' && reply.isFile === true && !reply.isUnchanged) gate.buckets.passFile(exchange.address);
    sendReply(exchange, reply);
    return;
  }
  const { log, load } = gate.services;
  if (route.newWork !== undefined && load !== undefined) {
    const begun = load.opening();
    reply.source.then(begun, begun);
  }
  const refusal = (error: unknown) => refusalOf(refusalOfOrphan(error, route, exchange, gate.services), log, exchange, routeName(route));
  gate.streams.open(exchange, reply.source, refusal);
}
