/**
 * What the client needs of the place it runs in: a fetch, a clock, chance, a place to keep values, somewhere to send its log. All of it
 * is handed in, so that one client runs in browsers, Node, workers and React Native, and tests decide what time it is.
 * `platform/` fills this in for the places that there are.
 */
import type { LogSink } from './log.ts';

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Null: there is none. It must arrive as it is sent, or answers do not stream. */
  readonly body: { getReader(): ByteReader } | null;
  text(): Promise<string>;
}

/** `globalThis.fetch` fits. Rejects when there is no answer: no network, a name that is not found, an abort. */
export type Fetch = (address: string, request: FetchRequest) => Promise<FetchAnswer>;

/** A file as the place has it: a `Blob`, a `File`, or in React Native an object with a uri. The client looks at none of it. */
export type FileContent = object;

export interface FileRequest {
  readonly address: string;
  readonly headers: Record<string, string>;
  readonly file: { readonly content: FileContent; readonly name: string };
  readonly signal: AbortSignal;
  /** Share of the file that is sent, from 0 to 1. */
  readonly onProgress: (share: number) => void;
}

export interface FileAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** Sends a file as `multipart/form-data` in the field `file`. Rejects when there is no answer. */
export type SendFile = (request: FileRequest) => Promise<FileAnswer>;

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `run` once after so many milliseconds, unless what it returns is called before. */
  after(ms: number, run: () => void): () => void;
}

/** Values kept over reloads, each a text under a name. Every function may fail: then the client goes on and forgets at a reload. */
export interface KeptValues {
  read(name: string): Promise<string | null>;
  write(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** What tabs of one installation say to each other. A message is plain data. */
export interface Tabs {
  /**
   * Calls `onLead` once this tab is the only one of this name that leads. It leads until the result is called, the tab is gone, or another one
   * takes its place: then `onLost` is called. `isSeizing`: it takes the place of whoever leads.
   */
  elect(name: string, onLead: () => void, onLost?: () => void, isSeizing?: boolean): () => void;
  join(name: string, onMessage: (message: unknown) => void): { post(message: unknown): void; close(): void };
}

export interface Surroundings {
  readonly fetch: Fetch;
  readonly sendFile: SendFile;
  readonly clock: Clock;
  /** A random UUID (version 4) in lower case: `() => crypto.randomUUID()`. */
  readonly mintUuid: () => string;
  readonly kept: KeptValues;
  readonly log: LogSink;
  /** Absent where there are no tabs: then this client speaks with the service itself. */
  readonly tabs?: Tabs;
}
