/** A route is a value: who may call it, with what body, and what it answers. One file renders the answer. */
import type * as v from 'valibot';
import type { Caller } from '../actors/caller.ts';
import type { Cells } from '../actors/cells/cells.ts';
import type { FrameSource } from '../actors/frame-source.ts';
import type { SetupCall } from '../actors/setup/admission.ts';
import type { UploadSlot } from '../actors/uploads/upload-slots.ts';
import type { AppRecord } from '../storage/apps/apps.ts';
import type { SessionRef } from '../storage/setup/setup-access.ts';
import type { LargeBodyKind } from './http/large-body.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A client SDK that presented a valid publishable key. `person` is null until limits have asked who signed. */
export interface RuntimeCaller extends Caller {
  readonly app: AppRecord;
  readonly address: string;
}

/** One that passed the limits of its route. */
export interface AdmittedCaller extends RuntimeCaller {
  /** Counts by what the body says: the person who signed, or the address. @throws Refusal `rate_limited` */
  pass(limits: readonly RateLimit[], person: string | null): void;
  /** Takes the request out of all these buckets again: nothing was done for it, and it is to be sent again. */
  giveBack(): void;
  /** How many more requests like this one fit into the minute now. */
  minuteLeft(): number;
}

export interface Callers {
  anyone: null;
  runtime: AdmittedCaller;
  operator: null;
  setup_claimant: SessionRef;
  setup: SetupCall;
  /** Another cell of the installation. What it gets is this one. */
  cell: Cells;
}
export type CallerKind = keyof Callers;

export type Admitted = { readonly [Kind in CallerKind]: { readonly kind: Kind; readonly caller: Callers[Kind] } }[CallerKind];

/** A route that takes a file instead of JSON, as one part of a multipart/form-data body. */
export interface UploadRule {
  readonly field: string;
  /** The file alone, without the framing around it. */
  readonly maxBytes: number;
  /** A place for the file, left when it is let go of; it may end the upload. Absent: anybody, while bytes keep coming. @throws Refusal */
  readonly enter?: (caller: RuntimeCaller, services: Services) => UploadSlot;
}

export interface UploadedFile {
  /** At least one. */
  readonly bytes: Uint8Array;
  /** The client's name for it, without folders; '' when none was sent. It says nothing about the content. */
  readonly fileName: string;
}

export interface RouteInput<Body, Caller, Upload = null> {
  readonly caller: Caller;
  readonly body: Body;
  readonly upload: Upload;
  /** Path parameters by the name they have in `path`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  header(name: string): string;
  readonly requestId: string;
  /** Whether only the answer's head is asked for, of a route that has it. */
  readonly isHead: boolean;
  /** The client's address, as trusted proxies report it; '' when it is no longer known. */
  readonly clientAddress: string;
  /** What limits know that address by, see client-address.ts. */
  readonly address: string;
}

/** An answer with an ETag. */
export interface TaggedReply {
  readonly kind: 'tagged';
  /** The client has it: 304. */
  readonly isUnchanged: boolean;
  readonly body: string | Uint8Array;
  /** At 200 and at 304. */
  readonly headers: { readonly [Status in 200 | 304]: Readonly<Record<string, string>> };
  /** Anybody may load it, so it is counted for the address. */
  readonly isFile?: true;
}

export type Reply =
  | TaggedReply
  | { readonly kind: 'json'; readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'rendered-json'; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: 'text'; readonly status: number; readonly body: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'bytes'; readonly status: number; readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'empty'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'stream'; readonly source: Promise<StreamPosition> };

export interface StreamPosition {
  readonly source: FrameSource;
  readonly fromSeq: number;
}

/** A bucket a request must pass, e.g. 20 a minute per device of an app; `perMinute` may depend on the app's settings. */
export interface RateLimit {
  readonly pool: string;
  /** `person`: counts requests that a person signed; `address`: counts the others. */
  readonly scope: 'device' | 'app' | 'person' | 'address';
  perMinute(app: AppRecord): number;
  /** For an app's bucket: this many requests a minute pass for each address even when other addresses have filled it. */
  readonly keptPerAddress?: number;
  /** The most that pass in this way for all addresses together: one client may own a network of addresses. */
  readonly keptTogether?: number;
  /** Said as `Retry-After` instead of the time until one request more fits. */
  readonly retryAfterS?: number;
}

type BodySchema = v.GenericSchema | undefined;
export type BodyOf<Schema extends BodySchema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : null;

/** Every route: where it lies and who may call it. */
interface RouteOf<Schema extends BodySchema, Kind extends CallerKind, Upload extends UploadRule | undefined>
  extends RouteRules<Schema, Kind, Upload> {
  readonly method: Method;
  readonly path: string;
  readonly caller: Kind;
}

/** What a route reads and what it answers. */
interface RouteRules<Schema extends BodySchema, Kind extends CallerKind, Upload extends UploadRule | undefined> {
  /** Absent: no JSON body is read. */
  readonly body?: Schema;
  readonly bodyMaxBytes?: number;
  readonly upload?: Upload;
  /** HEAD is answered as GET is, without the body: what watches services asks so, and nothing changes by it. */
  readonly head?: true;
  /** Any cell answers it, although its path names something of an organisation (CELL-1). */
  readonly anyCell?: true;
  handle(
    input: RouteInput<BodyOf<Schema>, Callers[Kind], Upload extends UploadRule ? UploadedFile : null>,
    services: Services,
  ): Reply | Promise<Reply>;
}

interface RuntimeRules {
  readonly limits: readonly RateLimit[];
  /** A large body is read beside the event loop as this kind, by the schema in `body`. Not with a `newWork` that is a function. */
  readonly largeBody?: LargeBodyKind;
  /** The error that a suspended app gets here (KEY-4); absent: it is served. */
  readonly suspended?: 'app_suspended' | 'quota_exceeded';
  /** `true`: an overloaded process refuses it unread. A function sees the unchecked body; a large one is refused unread. */
  readonly newWork?: true | ((body: unknown, hasTurn: (turnId: string) => boolean) => boolean);
}
type NoRuntimeRules = { readonly [Rule in keyof RuntimeRules]?: never };
type OtherCaller = Exclude<CallerKind, 'runtime'>;

type AnyRoute = RouteOf<BodySchema, CallerKind, UploadRule | undefined>;
export type RuntimeRoute = AnyRoute & { readonly caller: 'runtime' } & RuntimeRules;
export type Route = RuntimeRoute | (AnyRoute & { readonly caller: OtherCaller } & NoRuntimeRules);

/** Keeps a route's own types while it is written, and forgets them for the table it goes into. */
export function defineRoute<
  const Kind extends OtherCaller,
  const Schema extends BodySchema = undefined,
  const Upload extends UploadRule | undefined = undefined,
>(route: RouteOf<Schema, Kind, Upload> & NoRuntimeRules): Route {
  return route as unknown as Route;
}

export function runtimeRoute<const Schema extends BodySchema = undefined, const Upload extends UploadRule | undefined = undefined>(
  method: Method,
  path: string,
  rules: RouteRules<Schema, 'runtime', Upload> & RuntimeRules,
): Route {
  return { method, path, caller: 'runtime', ...rules } as unknown as Route;
}

/** Makes routes at `prefix` + path for callers of one kind; `body` undefined: none is read. */
function routesFor<const Kind extends OtherCaller>(caller: Kind, prefix: string) {
  return <const Schema extends BodySchema>(
    method: Method,
    path: string,
    body: Schema,
    handle: (input: RouteInput<BodyOf<Schema>, Callers[Kind]>, services: Services) => Reply | Promise<Reply>,
  ): Route => ({ method, path: `${prefix}${path}`, caller, ...(body !== undefined && { body }), handle }) as unknown as Route;
}

export const consoleRoute = routesFor('operator', '/console/api');
export const setupRoute = routesFor('setup', '/setup');

/** A route at which anybody may GET something public, or ask for its head. */
export function publicRoute(path: string, handle: (input: RouteInput<null, null>, services: Services) => Reply | Promise<Reply>): Route {
  return defineRoute({ method: 'GET', path, head: true, caller: 'anyone', handle });
}

export function routeName(route: Pick<Route, 'method' | 'path'>): string {
  return `${route.method} ${route.path}`;
}

/** `Body`: what the answer promises to whoever reads it. */
export function json<Body = unknown>(body: Body, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { kind: 'json', status, body } : { kind: 'json', status, body, headers };
}
