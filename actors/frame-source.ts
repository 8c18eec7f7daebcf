/** The source of a stream's frames: actors fill it, and the gateway reads it at the pace of its client. */
export interface FrameSlice {
  /** Whole server-sent frames, '' when there are none yet. */
  readonly text: string;
  /** The seq to ask for next. */
  readonly nextSeq: number;
  /** True when nothing follows this slice, ever. */
  readonly ended: boolean;
}

export interface FrameSource {
  /** Frames from `seq` on, about `maxChars` of them at most (at least one when there is one). */
  read(seq: number, maxChars: number): FrameSlice;
  /** Calls `wake`, at most once per loop tick, when there is more to read. Returns a function that stops it. */
  subscribe(wake: () => void): () => void;
  /** A subscribed reader takes nothing for now, or takes frames again. */
  slow?(reader: object, isSlow: boolean): void;
  /** By how many ms its frames are late because other streams are busy; 0 when in time. */
  lateMs?(): number;
}

export interface Position {
  readonly source: FrameSource;
  readonly fromSeq: number;
}

class ChangedSource implements FrameSource {
  readonly #source: FrameSource;
  readonly #change: (text: string) => string;

  constructor(source: FrameSource, change: (text: string) => string) {
    this.#source = source;
    this.#change = change;
  }

  read(seq: number, maxChars: number): FrameSlice {
    const slice = this.#source.read(seq, maxChars);
    const text = this.#change(slice.text);
    return text === slice.text ? slice : { ...slice, text };
  }

  subscribe(wake: () => void): () => void {
    return this.#source.subscribe(wake);
  }

  slow(reader: object, isSlow: boolean): void {
    this.#source.slow?.(reader, isSlow);
  }

  lateMs(): number {
    return this.#source.lateMs?.() ?? 0;
  }
}

/** The same frames with `change` made to their text, for one kind of reader. */
export function changedSource(source: FrameSource, change: (text: string) => string): FrameSource {
  return new ChangedSource(source, change);
}

/** One server-sent frame of the console's and the setup interface's streams; `data` is JSON in one line. */
export function frame(type: string, data: string, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}

/** Keeps an idle stream alive. */
export const PING_COMMENT = ': ping\n\n';
