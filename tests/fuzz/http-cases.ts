/** Requests to fuzz the running program with: bodies from its own schemas, uploads from seeds, and requests with damage anywhere. */
import { DEVICE, HANDSHAKE } from '../support/client.ts';
import type { Dice } from '../support/seeded.ts';
import { ALL_SEEDS } from './documents.ts';
import { type Making, type Schema, valueFor } from './from-schema.ts';
import { damaged, hostileName, hostileText, hostileValue, objectOf } from './hostile.ts';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** One app, and who may do what with it. */
export interface Target {
  readonly appId: string;
  readonly liveKey: string;
  readonly testKey: string;
  /** The token of a setup session that belongs to the fuzzer. */
  readonly setupToken: string;
}

export interface Ground {
  readonly targets: readonly Target[];
  readonly operatorToken: string;
  /** Bodies of the runtime interface by name, as GET /v1/schemas answers them. */
  readonly runtime: Readonly<Record<string, Schema>>;
  /** The schemas of the setup interface, as GET /setup/context answers them. */
  readonly setup: Readonly<Record<string, Schema>>;
  /** What the service answered: ids of conversations, blocks, calls, files. */
  readonly known: ReadonlyMap<string, readonly unknown[]>;
}

interface Endpoint {
  readonly method: string;
  readonly path: string;
}

/** `:id` is filled in. */
const RUNTIME: Readonly<Record<string, Endpoint>> = {
  chat: { method: 'POST', path: '/v1/chat' },
  manifest: { method: 'POST', path: '/v1/apps/manifest' },
  identify: { method: 'POST', path: '/v1/identify' },
  confirm: { method: 'POST', path: '/v1/invocations/:invocation_id/confirm' },
  edit: { method: 'POST', path: '/v1/invocations/:invocation_id/edit' },
  feedback: { method: 'POST', path: '/v1/feedback' },
  rating: { method: 'POST', path: '/v1/ratings' },
  pairing_claim: { method: 'POST', path: '/v1/pairings/claim' },
};
const SETUP: Readonly<Record<string, Endpoint>> = {
  start: { method: 'POST', path: '/start' },
  events: { method: 'POST', path: '/events' },
  appearance: { method: 'PUT', path: '/appearance' },
  experience: { method: 'PUT', path: '/experience' },
  knowledge: { method: 'POST', path: '/knowledge' },
  actions: { method: 'POST', path: '/actions' },
  screens: { method: 'POST', path: '/screens' },
};
/** What the console serves of the setup interface, without its limit of requests. */
const CONSOLE_WRITES = ['appearance', 'experience', 'knowledge', 'actions', 'screens'] as const;
const READS = [
  '/v1/chat/:turn_id',
  '/v1/apps/config',
  '/v1/apps/logo',
  '/v1/conversations/:conversation_id/messages',
  '/v1/conversations/:conversation_id/messages?limit=:q&before=:q',
  '/v1/schemas',
  '/healthz',
  '/readyz',
  '/setup/file?code=:q',
  '/docs/:q',
  '/docs/specification/:q',
  '/:q/:q',
];
const CONSOLE_READS = [
  '/apps/:app',
  '/apps/:app/conversations?limit=:q&cursor=:q',
  '/apps/:app/end-users?limit=:q&cursor=:q',
  '/apps/:app/end-users/:q/export',
  '/apps/:app/feedback?cursor=:q',
  '/apps/:app/appearance',
  '/apps/:app/experience',
  '/apps/:app/knowledge',
  '/apps/:app/actions',
  '/apps/:app/screens',
  '/apps/:app/proposals',
  '/apps/:app/status',
  '/orgs/:q',
  '/orgs/:q/usage?from=:q&to=:q',
  '/conversations/:conversation_id',
  '/sessions/:q',
  '/machines/:q',
  '/:q',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'X'];
const HEADERS = [
  'X-Service-Device',
  'X-Service-Key',
  'X-Service-User-Token',
  'Authorization',
  'Cookie',
  'Content-Type',
  'Content-Encoding',
  'Origin',
  'Last-Event-ID',
  'If-None-Match',
  'X-Forwarded-For',
  'Accept',
  'Range',
  'X-CSRF-Token',
  'Access-Control-Request-Headers',
];

/** A part of a path or query: an id that exists, or anything. */
function segment(dice: Dice, known: readonly unknown[] | undefined): string {
  const sendable = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, ''));
  // Also what was no id when it was sent, and came back in the answer.
  if (known !== undefined && known.length > 0 && dice.below(4) > 0) return sendable(String(dice.pick(known)));
  const text = dice.pick(['', '0', '-1', '1e9', 'x', '..', '%', '%00', '%ff', hostileName(dice, 300)]);
  return dice.below(4) === 0 ? text.replace(/[^\x21-\x7e]/g, '') : sendable(text);
}

function filled(dice: Dice, path: string, { known }: Ground, { appId }: Target): string {
  return path.replace(/:[a-z_]+/g, (name) => (name === ':app' ? appId : segment(dice, known.get(name.slice(1)))));
}

const asJson = (value: unknown) => Buffer.from(JSON.stringify(value));
const JSON_TYPE = { 'Content-Type': 'application/json' };

function runtimeHeaders(dice: Dice, { liveKey, testKey }: Target): Record<string, string> {
  const device =
    dice.below(3) > 0
      ? DEVICE
      : dice
          .below(2 ** 31)
          .toString(16)
          .padStart(32, 'a');
  return { 'X-Service-Key': dice.below(8) === 0 ? testKey : liveKey, 'X-Service-Device': device };
}

/** A body of the runtime interface; of chats the handshake is the one that a client sends, mostly. */
function runtimeCase(dice: Dice, ground: Ground, target: Target, making: Making): FuzzRequest {
  const name = dice.pick(Object.keys(RUNTIME));
  const { method, path } = RUNTIME[name] as Endpoint;
  let body = valueFor(ground.runtime[name] as Schema, making);
  if (name === 'chat' && dice.below(4) > 0) body = objectOf(Object.entries({ ...(body as object), client: HANDSHAKE }));
  return {
    method,
    path: filled(dice, path, ground, target),
    headers: { ...runtimeHeaders(dice, target), ...JSON_TYPE },
    body: asJson(body),
  };
}

function consoleHeaders({ operatorToken }: Ground): Record<string, string> {
  return { Authorization: `Bearer ${operatorToken}` };
}

function setupCase(dice: Dice, ground: Ground, target: Target, making: Making): FuzzRequest {
  const isConsole = dice.below(8) > 0;
  const name = dice.pick(isConsole ? CONSOLE_WRITES : Object.keys(SETUP));
  const { method, path } = SETUP[name] as Endpoint;
  const body = asJson(valueFor(ground.setup[name] as Schema, making));
  if (isConsole) {
    return { method, path: `/console/api/apps/${target.appId}${path}`, headers: { ...consoleHeaders(ground), ...JSON_TYPE }, body };
  }
  return { method, path: `/setup${path}`, headers: { Authorization: `Bearer ${target.setupToken}`, ...JSON_TYPE }, body };
}

function multipart(dice: Dice, bytes: Buffer, mediaType: string): Pick<FuzzRequest, 'headers' | 'body'> {
  const name = dice.below(10) === 0 ? hostileName(dice, 200) : 'file';
  const fileName = dice.below(2) === 0 ? hostileName(dice, 300) : 'a.pdf';
  const head = `--fuzzed\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: ${mediaType}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--fuzzed--\r\n')]);
  return { headers: { 'Content-Type': 'multipart/form-data; boundary=fuzzed' }, body: dice.below(6) === 0 ? damaged(dice, body) : body };
}

function uploadCase(dice: Dice, ground: Ground, target: Target): FuzzRequest {
  const { mediaType, bytes } = dice.pick(ALL_SEEDS);
  const form = multipart(dice, dice.below(5) === 0 ? Buffer.from(bytes) : damaged(dice, bytes), mediaType);
  // Logos of SVG wait for a reader process each: fewer of them.
  if (dice.below(4) > 0)
    return { method: 'POST', path: '/v1/uploads', ...form, headers: { ...runtimeHeaders(dice, target), ...form.headers } };
  const path = `/console/api/apps/${target.appId}/logo`;
  return { method: 'POST', path, ...form, headers: { ...consoleHeaders(ground), ...form.headers } };
}

function readCase(dice: Dice, ground: Ground, target: Target): FuzzRequest {
  const isConsole = dice.below(2) === 0;
  const path = isConsole ? `/console/api${dice.pick(CONSOLE_READS)}` : dice.pick(READS);
  const headers = isConsole ? consoleHeaders(ground) : runtimeHeaders(dice, target);
  return { method: 'GET', path: filled(dice, path, ground, target), headers, body: null };
}

/** Any of the others, with damage: bytes of the body, a header, the path, the method. */
function damagedCase(dice: Dice, request: FuzzRequest): FuzzRequest {
  const { method, path, headers, body } = request;
  switch (dice.below(5)) {
    case 0: {
      const value = hostileText(dice, 2_000)
        .replace(/[^\x20-\x7e]/g, '')
        .trim();
      return { ...request, headers: { ...headers, [dice.pick(HEADERS)]: value } };
    }
    case 1:
      return {
        ...request,
        path: damaged(dice, Buffer.from(path))
          .toString()
          .replace(/[^\x21-\x7e]/g, '')
          .replace(/^\/*/, '/'),
      };
    case 2:
      return { ...request, method: dice.pick(METHODS) };
    case 3:
      return {
        method: method === 'GET' ? 'POST' : method,
        path,
        headers: { ...headers, ...JSON_TYPE },
        body: asJson(hostileValue(dice, 9_000)),
      };
    default:
      return { ...request, body: body === null ? null : damaged(dice, body) };
  }
}

function ordinaryCase(dice: Dice, ground: Ground): FuzzRequest {
  const target = dice.pick(ground.targets);
  const making = { dice, oddOneIn: dice.pick([4, 12, 40, Infinity]), known: ground.known };
  const kind = dice.below(20);
  if (kind < 10) return runtimeCase(dice, ground, target, making);
  if (kind < 13) return setupCase(dice, ground, target, making);
  if (kind < 15) return uploadCase(dice, ground, target);
  return readCase(dice, ground, target);
}

/** Without its apps the rest of a run would try nothing but wrong keys. */
const DELETES_APP = /^\/console\/api\/apps\/[^/]+\/?(?:\?|$)/;

export function requestFor(dice: Dice, ground: Ground): FuzzRequest {
  const ordinary = ordinaryCase(dice, ground);
  const request = dice.below(4) === 0 ? damagedCase(dice, ordinary) : ordinary;
  return request.method === 'DELETE' && DELETES_APP.test(request.path) ? { ...request, method: 'GET' } : request;
}

/** The request as it goes over the wire, with damage in its head: for whoever writes to the socket by himself. */
export function rawBytes(dice: Dice, { method, path, headers, body }: FuzzRequest): Buffer {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': String(body?.length ?? 0) }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const bytes = Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)]);
  return damaged(dice, bytes);
}
