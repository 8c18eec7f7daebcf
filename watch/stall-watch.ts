/**
 * The stall watch: measures how late this process's event loop is, logs what ran when it was blocked, and keeps the numbers for /metrics. A
 * timer of 20 ms that fires late was delayed by everything that ran in between: one stretch. Wall time, the thread's own processor time
 * and its wait for a processor are measured separately, because on a busy machine the cause may be another process.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { takeSections } from './sections.ts';
import { type ThreadTime, threadClock } from './thread-time.ts';

/** Resolution: a tenth of the logged lateness, within bounds. A measurement takes a timer and some 10 µs, fifty times a second. */
const LOOKS_PER_STALL = 10;
const LOOK_EVERY_MIN_MS = 5;
const LOOK_EVERY_MAX_MS = 20;
/** /metrics shows the last window and the present one: one to two minutes. */
const WINDOW_MS = 60_000;
const US_PER_MS = 1e3;
const MS_PER_S = 1e3;
const P99 = 99;

export interface StallWatchOptions {
  /** Lateness from which a stretch is logged and counted. */
  readonly stallMs: number;
  readonly log: { warn(fields: object, message: string): void };
  /** Receives every measurement. */
  readonly onLook?: (look: Look) => void;
  /** Tests give their own. */
  readonly nowMs?: () => number;
  readonly threadTime?: () => ThreadTime;
}

/** One stretch of the loop, without delays by other processes. */
export interface Look {
  /** Lateness caused by the thread's own work. */
  readonly lateMs: number;
  /** Time in which the thread ran or was idle; less than wall time while others use the processors. */
  readonly hadMs: number;
}

export interface StallStats {
  /** 99th percentile of the last one to two minutes. */
  readonly lateP99S: number;
  readonly lateMaxS: number;
  /** Longest stretch, in processor time of the thread. */
  readonly longestCpuS: number;
  /** Stretches over the bound since the start: by the clock, and by the thread's own processor time. */
  readonly stalls: { readonly wall: number; readonly cpu: number };
  /** The last stall by processor time: its length, and its longest section; null: there was none. */
  readonly lastStall: { readonly cpuS: number; readonly what: string } | null;
}

export interface StallWatch {
  stats(): StallStats;
  /** Measures now instead of at the next timer. */
  look(): void;
  close(): void;
}

/** An hour of lateness with two significant digits takes 22 KB; the whole range that a histogram could count takes 360. */
const LATE_RANGE = { highest: 60 * 60 * MS_PER_S * US_PER_MS, figures: 2 } as const;

function lateness(): RecordableHistogram {
  return createHistogram(LATE_RANGE);
}

class Window {
  readonly late = lateness();
  longestCpuMs = 0;
}

/** The last window and the present one. */
class Windows {
  #earlier = new Window();
  #present = new Window();
  #fromMs: number;

  constructor(fromMs: number) {
    this.#fromMs = fromMs;
  }

  record(atMs: number, lateMs: number, ranMs: number): void {
    this.#present.late.record(Math.min(LATE_RANGE.highest, Math.max(1, Math.round(lateMs * US_PER_MS))));
    this.#present.longestCpuMs = Math.max(this.#present.longestCpuMs, ranMs);
    if (atMs - this.#fromMs < WINDOW_MS) return;
    this.#fromMs = atMs;
    this.#earlier = this.#present;
    this.#present = new Window();
  }

  stats(): Pick<StallStats, 'lateP99S' | 'lateMaxS' | 'longestCpuS'> {
    const late = lateness();
    late.add(this.#earlier.late);
    late.add(this.#present.late);
    const seconds = (us: number) => us / US_PER_MS / MS_PER_S;
    return {
      lateP99S: late.count === 0 ? 0 : seconds(late.percentile(P99)),
      lateMaxS: late.count === 0 ? 0 : seconds(late.max),
      longestCpuS: Math.max(this.#earlier.longestCpuMs, this.#present.longestCpuMs) / MS_PER_S,
    };
  }
}

/** Starts watching the event loop of the calling thread. */
export function watchStalls({
  stallMs,
  log,
  onLook,
  nowMs = () => performance.now(),
  threadTime = threadClock(),
}: StallWatchOptions): StallWatch {
  const lookEveryMs = Math.min(LOOK_EVERY_MAX_MS, Math.max(LOOK_EVERY_MIN_MS, stallMs / LOOKS_PER_STALL));
  let lookedAtMs = nowMs();
  let before = threadTime();
  const windows = new Windows(lookedAtMs);
  const stalls = { wall: 0, cpu: 0 };
  let lastStall: StallStats['lastStall'] = null;

  const tell = (lateMs: number, now: ThreadTime, ranMs: number) => {
    const waitedMs = now.waitedMs === null || before.waitedMs === null ? null : now.waitedMs - before.waitedMs;
    const { ran, last } = takeSections();
    if (ranMs >= stallMs) lastStall = { cpuS: ranMs / MS_PER_S, what: ran[0]?.what ?? `after ${last.what}` };
    const fields = {
      late_ms: Math.round(lateMs),
      cpu_ms: Math.round(ranMs),
      waited_for_cpu_ms: waitedMs === null ? undefined : Math.round(waitedMs),
      ran,
      last,
    };
    log.warn(fields, ranMs >= stallMs ? 'the event loop was blocked by its own work' : 'the event loop was delayed by the machine');
  };

  const look = () => {
    const atMs = nowMs();
    const now = threadTime();
    const lateMs = Math.max(0, atMs - lookedAtMs - lookEveryMs);
    const ranMs = now.ranMs - before.ranMs;
    const ownMs = atMs - lookedAtMs - ((now.waitedMs ?? 0) - (before.waitedMs ?? 0));
    windows.record(atMs, lateMs, ranMs);
    if (ranMs >= stallMs) stalls.cpu += 1;
    if (lateMs >= stallMs) {
      stalls.wall += 1;
      tell(lateMs, now, ranMs);
    } else takeSections();
    lookedAtMs = atMs;
    before = now;
    onLook?.({ lateMs: Math.min(lateMs, ranMs), hadMs: ownMs });
  };

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    look,
    stats: () => ({ ...windows.stats(), stalls: { ...stalls }, lastStall }),
    close: () => clearInterval(timer),
  };
}
