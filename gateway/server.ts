/** The HTTP server: registers the routes with uWebSockets, answers requests that match none, listens, drains. */
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { isEnding } from '../actors/node.ts';
import { Refusal } from '../protocol/errors.ts';
import { dispatch, type Gate } from './dispatch.ts';
import { healthRoutes } from './health.ts';
import { proxyHeader } from './http/client-address.ts';
import { preflightHeaders } from './http/cors.ts';
import { uWS } from './http/driver.ts';
import { Exchange, type ExchangePlan } from './http/exchange.ts';
import { framingProblem } from './http/framing.ts';
import type { Interface } from './http/interface.ts';
import { refusalOf, sendRefusal } from './http/render.ts';
import { EventStreams, type StreamTimes } from './http/sse.ts';
import { registerSpeakingSockets, type SpeakingSockets } from './http/web-socket.ts';
import { admitViewer, INSPECTOR_PATH } from './inspector.ts';
import { createMetrics, type GatewayMetrics } from './metrics.ts';
import { RateBuckets } from './rate-limit.ts';
import { type Method, type Route, routeName } from './route.ts';
import type { Services } from './services.ts';

/** uWebSockets' options of a listening socket: exclusive (a second process fails to listen), or shared with others that use the same option. */
const EXCLUSIVE_PORT = 1;
const SHARED_PORT = 0;

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Other processes listen there, too: the kernel gives each connection to one of them. */
  readonly sharesPort?: boolean;
  readonly services: Services;
  /** It ends before its process does, which another one serves. */
  readonly passing?: boolean;
  readonly routes: readonly Route[];
  /** Lets tests shorten what takes seconds. */
  readonly streamTimes?: Omit<StreamTimes, 'nowMs' | 'counted'>;
}

export interface Server {
  /** The port that was taken. */
  readonly port: number;
  /** Stops listening, waits at most `timeoutMs` for open requests and streams, then cuts the rest. Idempotent. */
  drain(timeoutMs: number): Promise<void>;
  /** Cuts everything at once. */
  close(): void;
}

type AnsweredMethod = Method | 'HEAD';
type Handler = (res: HttpResponse, req: HttpRequest) => void;

const REGISTER: Readonly<Record<Method, (app: TemplatedApp, path: string, handler: Handler) => void>> = {
  GET: (app, path, handler) => app.get(path, handler),
  POST: (app, path, handler) => app.post(path, handler),
  PUT: (app, path, handler) => app.put(path, handler),
  PATCH: (app, path, handler) => app.patch(path, handler),
  DELETE: (app, path, handler) => app.del(path, handler),
};

function interfaceOf(path: string): Interface {
  if (path.startsWith('/v1/') || path === '/v1') return 'runtime';
  if (path.startsWith('/setup/') || path === '/setup') return 'setup';
  return path.startsWith('/console') ? 'console' : 'service';
}

function parametersOf(path: string): string[] {
  return path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
}

class Gateway {
  readonly app: TemplatedApp = uWS.App();
  readonly streams: EventStreams;
  readonly #gate: Gate;
  readonly #metrics: GatewayMetrics;
  #exchanges = 0;
  #telling: NodeJS.Immediate | undefined;
  #onIdle: () => void = () => {};
  #looksForProxy: boolean;
  readonly #viewers: SpeakingSockets | undefined;

  constructor({ services, routes, streamTimes, passing }: ServerOptions) {
    const tell = () => {
      this.#telling = undefined;
      services.node.send({ type: 'counted', counts: { streams: this.streams.count } });
    };
    const counted = () => {
      // Once for each loop tick: an event of the store costs some 10 µs.
      this.#telling ??= setImmediate(tell);
      this.#lookForIdle();
    };
    this.streams = new EventStreams({ ...streamTimes, nowMs: services.nowMs, counted });
    this.#metrics = createMetrics(services, passing);
    this.#looksForProxy = services.config.trustProxy === undefined;
    this.#gate = { services, buckets: new RateBuckets(services.nowMs, services.counts), streams: this.streams };
    const table = [...routes, ...healthRoutes(this.#metrics, this.#gate.buckets)];
    const named = table.filter(({ path }) => !path.endsWith('/*'));
    for (const route of named) this.#registerRoute(route);
    const methods = new Map<string, AnsweredMethod[]>();
    for (const { path, method, head } of named) {
      const more = head === true ? (['HEAD', method] as const) : [method];
      methods.set(path, [...(methods.get(path) ?? []), ...more].sort());
    }
    for (const [path, known] of methods) this.#registerRest(path, known);
    this.#viewers = this.#registerInspector();
    const unknown = this.#unknownHandler();
    for (const route of table) if (!named.includes(route)) this.#registerLeft(route, unknown);
    this.app.any('/*', unknown);
  }

  /** Resolves when no request waits for its answer and no stream is open, after `timeoutMs` at the latest. */
  async idle(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(resolve, timeoutMs);
      this.#lookForIdle();
    });
    clearTimeout(timer);
  }

  endViewers(): void {
    this.#viewers?.end();
  }

  /** Undefined: no setting asks for it. */
  #registerInspector(): SpeakingSockets | undefined {
    const { services } = this.#gate;
    const { inspector } = services.config;
    if (inspector === undefined) return undefined;
    const plan = this.#plan(`GET ${INSPECTOR_PATH}`, 'service', []);
    return registerSpeakingSockets(this.app, {
      path: INSPECTOR_PATH,
      trustProxy: services.config.trustProxy,
      admit: (request) => admitViewer(request, services, inspector, this.#gate.buckets),
      refuse: (res, req, error) => {
        const refuse = (exchange: Exchange) => sendRefusal(exchange, refusalOf(error, services.log, exchange, plan.interface));
        this.#accept(() => plan, refuse)(res, req);
      },
      failed: (error) => services.log.warn({ err: error }, 'a viewer of machines was dropped: reading what it looks at failed'),
    });
  }

  #lookForIdle(): void {
    if (this.#exchanges === 0 && this.streams.count === 0) this.#onIdle();
  }

  close(): void {
    this.streams.dropAll();
    this.app.close();
    this.#metrics.close();
  }

  #plan(name: string, face: Interface, parameters: readonly string[]): ExchangePlan {
    return {
      interface: face,
      parameters,
      trustProxy: this.#gate.services.config.trustProxy,
      closing: () => isEnding(this.#gate.services.node),
      finished: (status, ms) => {
        this.#exchanges -= 1;
        this.#metrics.countRequest(name, status, ms);
        this.#lookForIdle();
      },
      refused: (code) => this.#metrics.countRefusal(code),
    };
  }

  /** Once. Limits by address would count all clients as one, and nothing else would show it. */
  #warnOfProxy(res: HttpResponse, req: HttpRequest): void {
    const header = proxyHeader(res, req);
    if (header === undefined) return;
    this.#looksForProxy = false;
    const fields = { header };
    this.#gate.services.log.warn(
      fields,
      'requests arrive through a proxy, but TRUST_PROXY is not set: rate limits count all its clients as one address',
    );
  }

  #begin(res: HttpResponse, req: HttpRequest, plan: ExchangePlan): Exchange {
    this.#exchanges += 1;
    if (this.#looksForProxy) this.#warnOfProxy(res, req);
    return new Exchange(res, req, plan);
  }

  /** Begins an exchange and hands it on. Refuses an ambiguous request and closes its connection. */
  #accept(planOf: (req: HttpRequest) => ExchangePlan, work: (exchange: Exchange, plan: ExchangePlan) => void): Handler {
    return (res, req) => {
      const plan = planOf(req);
      const problem = framingProblem(req);
      if (problem === undefined) {
        work(this.#begin(res, req, plan), plan);
        return;
      }
      const exchange = this.#begin(res, req, { ...plan, cuts: true });
      exchange.detach();
      // Later: while an answer is due, uWebSockets closes the connection instead of parsing what follows as the next request.
      setImmediate(() => sendRefusal(exchange, new Refusal('invalid_request', problem)));
    };
  }

  #registerRoute(route: Route): void {
    const plan = this.#plan(routeName(route), interfaceOf(route.path), parametersOf(route.path));
    const handler = this.#accept(
      () => plan,
      (exchange) => dispatch(route, exchange, this.#gate),
    );
    REGISTER[route.method](this.app, route.path, handler);
    if (route.head === true) this.app.head(route.path, handler);
  }

  /** Answers preflights, and methods that a known path does not have. */
  #registerRest(path: string, methods: readonly AnsweredMethod[]): void {
    const face = interfaceOf(path);
    const allow = methods.join(', ');
    const refused = this.#plan(`* ${path}`, face, []);
    const refuse = this.#accept(
      () => refused,
      (exchange) => {
        sendRefusal(exchange, new Refusal('method_not_allowed', `${path} takes ${allow}.`), { Allow: allow });
      },
    );
    this.app.any(path, refuse);
    if (face !== 'runtime') return;
    const preflight = this.#plan(`OPTIONS ${path}`, face, []);
    const allowed = this.#accept(
      () => preflight,
      (exchange) => {
        // An empty body, not none: of that uWebSockets tells whether the client takes it.
        exchange.respond(204, preflightHeaders(exchange.origin, `${allow}, OPTIONS`), '');
      },
    );
    this.app.options(path, allowed);
  }

  /** Registered for all methods: uWebSockets looks through one method's paths first, and a wildcard for GET would win over a path's 405. */
  #registerLeft(route: Route, unknown: Handler): void {
    const plan = this.#plan(routeName(route), interfaceOf(route.path), []);
    const handler = this.#accept(
      () => plan,
      (exchange) => dispatch(route, exchange, this.#gate),
    );
    const methods: readonly string[] = route.head === true ? ['HEAD', route.method] : [route.method];
    this.app.any(route.path, (res, req) => (methods.includes(req.getCaseSensitiveMethod()) ? handler : unknown)(res, req));
  }

  #unknownHandler(): Handler {
    const plans: Readonly<Record<Interface, ExchangePlan>> = {
      runtime: this.#plan('unknown /v1', 'runtime', []),
      console: this.#plan('unknown /console', 'console', []),
      setup: this.#plan('unknown /setup', 'setup', []),
      service: this.#plan('unknown', 'service', []),
    };
    const planOf = (req: HttpRequest) => plans[interfaceOf(req.getUrl())];
    return this.#accept(planOf, (exchange, { interface: face }) => {
      const message = 'There is nothing at this path.';
      const refusal = face === 'runtime' ? new Refusal('invalid_request', message, { status: 404 }) : new Refusal('not_found', message);
      sendRefusal(exchange, refusal);
    });
  }
}

function listen(app: TemplatedApp, { host, port, sharesPort = false }: ServerOptions): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const listened = (socket: us_listen_socket | false) => {
      if (socket !== false) resolve(socket);
      else reject(new Error(`Cannot listen on ${host}:${port}: the address is taken or not this machine's.`));
    };
    // The native call takes options after a host too; its type leaves them out.
    (app.listen as unknown as (host: string, port: number, options: number, callback: typeof listened) => void).call(
      app,
      host,
      port,
      sharesPort ? SHARED_PORT : EXCLUSIVE_PORT,
      listened,
    );
  });
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const gateway = new Gateway(options);
  let socket = await listen(gateway.app, options);
  const port = uWS.us_socket_local_port(socket as unknown as Parameters<typeof uWS.us_socket_local_port>[0]);
  if (options.sharesPort === true && options.port === 0) {
    // A port that the kernel chose is not shared by uWebSockets: it is listened on once more, by its number.
    uWS.us_listen_socket_close(socket);
    socket = await listen(gateway.app, { ...options, port });
  }
  let drained: Promise<void> | undefined;

  const drain = async (timeoutMs: number): Promise<void> => {
    uWS.us_listen_socket_close(socket);
    gateway.endViewers();
    await gateway.idle(timeoutMs);
    gateway.close();
  };

  return {
    port,
    drain(timeoutMs) {
      drained ??= drain(timeoutMs);
      return drained;
    },
    close() {
      if (drained === undefined) gateway.close();
      drained ??= Promise.resolve();
    },
  };
}
