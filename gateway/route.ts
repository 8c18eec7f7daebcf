/** A route is a value: who may call it, with what body, and what it answers. One file renders the answer. */
import type { Readable } from 'node:stream';
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
  /**
   * Counts the request in buckets beside the route's, by what its body says: of the person who signed for it, or of the address.
   * @throws Refusal `rate_limited`
   */
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
  /** The holder of a session's token, before the session is started. */
  setup_claimant: SessionRef;
  /** The agent of a running session. */
  setup: SetupCall;
  /** Another cell of the installation. What it gets is this one. */
  cell: Cells;
}
export type CallerKind = keyof Callers;

/** The admitted caller, by the kind that the route asks for. */
export type Admitted = { readonly [Kind in CallerKind]: { readonly kind: Kind; readonly caller: Callers[Kind] } }[CallerKind];

/** A route that takes a file instead of JSON, as one part of a multipart/form-data body. */
export interface UploadRule {
  /** The part's name. */
  readonly field: string;
  /** The file alone, without the framing around it. */
  readonly maxBytes: number;
  /**
   * What is asked of the caller before the file is read, and a place for it, which is left when the file is let go of; it may also end the
   * upload. Runtime callers only; absent: anybody may, for as long as bytes keep coming. @throws Refusal
   */
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
  /** Header by lowercase name, '' when absent. */
  header(name: string): string;
  /** The body as it comes, of a route that is `streamed`. To be taken before `handle` awaits anything. */
  stream(): Readable;
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
  /** Requests of one pool share buckets; every pool has its own. */
  readonly pool: string;
  /** `person`: counts requests that a person signed; `address`: counts the others. */
  readonly scope: 'device' | 'app' | 'person' | 'address';
  /** Infinity: no limit. */
  perMinute(app: AppRecord): number;
  /** For an app's bucket: this many requests a minute pass for each address even when other addresses have filled it. */
  readonly keptPerAddress?: number;
  /** The most that pass in this way for all addresses together: one client may own a network of addresses. */
  readonly keptTogether?: number;
  /** Said as `Retry-After` instead of the time until one request more fits. */
  readonly retryAfterS?: number;
}

/** Every route: where it lies, who may call it, what it reads and what it answers. */
interface RouteOf<Schema extends v.GenericSchema | undefined, Kind extends CallerKind, Upload extends UploadRule | undefined> {
  readonly method: Method;
  /** uWebSockets pattern, e.g. `/v1/chat/:turn_id`. One that ends with `/*` gets what no other route of any method takes. */
  readonly path: string;
  readonly caller: Kind;
  /** Absent: no JSON body is read. */
  readonly body?: Schema;
  readonly bodyMaxBytes?: number;
  /** Instead of `body`. */
  readonly upload?: Upload;
  /** Instead of both: the body goes to `handle` as it comes, at its pace and unbounded. For callers that are trusted. */
  readonly streamed?: true;
  /** HEAD is answered as GET is, without the body: what watches services asks so, and nothing changes by it. */
  readonly head?: true;
  /** Any cell answers it, although its path names something of an organisation (CELL-1). */
  readonly anyCell?: true;
  handle(
    input: RouteInput<
      Schema extends v.GenericSchema ? v.InferOutput<Schema> : null,
      Callers[Kind],
      Upload extends UploadRule ? UploadedFile : null
    >,
    services: Services,
  ): Reply | Promise<Reply>;
}

/** What only routes of the runtime interface have. */
interface RuntimeRules {
  readonly limits: readonly RateLimit[];
  /** A large body is read beside the event loop as this kind, by the schema in `body`. Not with a `newWork` that is a function. */
  readonly largeBody?: LargeBodyKind;
  /** The error that a suspended app gets here (KEY-4); absent: it is served. */
  readonly suspended?: 'app_suspended' | 'quota_exceeded';
  /**
   * It begins new work, which an overloaded process refuses. `true`: before the body is read. A function: it looks at the body, which is
   * not checked yet, and asks whether the turn with an id is there and did not fail; a body that is announced as large is refused unread.
   */
  readonly newWork?: true | ((body: unknown, hasTurn: (turnId: string) => boolean) => boolean);
}
type NoRuntimeRules = { readonly [Rule in keyof RuntimeRules]?: never };
type OtherCaller = Exclude<CallerKind, 'runtime'>;

type AnyRoute = RouteOf<v.GenericSchema | undefined, CallerKind, UploadRule | undefined>;
export type RuntimeRoute = AnyRoute & { readonly caller: 'runtime' } & RuntimeRules;
/** A route in its table: its own types of body, caller and file are forgotten. */
export type Route = RuntimeRoute | (AnyRoute & { readonly caller: OtherCaller } & NoRuntimeRules);

/** Keeps a route's own types while it is written, and forgets them for the table it goes into. */
export function defineRoute<
  const Schema extends v.GenericSchema | undefined = undefined,
  const Upload extends UploadRule | undefined = undefined,
>(route: RouteOf<Schema, 'runtime', Upload> & RuntimeRules): Route;
export function defineRoute<
  const Kind extends OtherCaller,
  const Schema extends v.GenericSchema | undefined = undefined,
  const Upload extends UploadRule | undefined = undefined,
>(route: RouteOf<Schema, Kind, Upload> & NoRuntimeRules): Route;
export function defineRoute(route: unknown): Route {
  return route as Route;
}

/** The name of a route in logs and metrics. */
export function routeName(route: Pick<Route, 'method' | 'path'>): string {
  return `${route.method} ${route.path}`;
}

/** `Body`: what the answer promises to whoever reads it. */
export function json<Body = unknown>(body: Body, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { kind: 'json', status, body } : { kind: 'json', status, body, headers };
}
