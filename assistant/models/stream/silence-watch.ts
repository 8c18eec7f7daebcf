/** Half a second is exact enough for a limit of 30; 10,000 runs cost two passes over a set a second. */
const SWEEP_MAX_MS = 500;
/** A short limit is swept at least this many times. */
const SWEEPS_PER_SILENCE = 4;

export interface Watched {
  /** Set by the run when bytes come: cheaper than reading a clock for each. Cleared by the watch. */
  heard: boolean;
  /** Nobody reads at the moment: silence does not count. */
  readonly paused: boolean;
  /** Kept by the watch: for how long nothing came. */
  quietMs: number;
  /** Nothing came for the limit. The run is still watched unless it is removed. */
  fallSilent(): void;
}

export class SilenceWatch<Run extends Watched = Watched> {
  private readonly silenceMs: number;
  private readonly sweepMs: number;
  private readonly nowMs: () => number;
  private readonly runs = new Set<Run>();
  private timer: NodeJS.Timeout | undefined;
  private sweptAtMs = 0;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(silenceMs: number, nowMs: () => number) {
    this.silenceMs = silenceMs;
    this.sweepMs = Math.max(1, Math.min(SWEEP_MAX_MS, Math.floor(silenceMs / SWEEPS_PER_SILENCE)));
    this.nowMs = nowMs;
  }

  get size(): number {
    return this.runs.size;
  }

  add(run: Run): void {
    const now = this.nowMs();
    if (this.timer === undefined) {
      this.sweptAtMs = now;
      this.timer = setInterval(() => this.sweep(), this.sweepMs);
      this.timer.unref();
    }
    run.heard = false;
    // The next sweep adds all the time since the last one, of which this run saw only the end.
    run.quietMs = this.sweptAtMs - now;
    this.runs.add(run);
  }

  remove(run: Run): void {
    this.runs.delete(run);
    if (this.runs.size > 0 || this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  all(): Run[] {
    return [...this.runs];
  }

  private sweep(): void {
    const now = this.nowMs();
    // A process that was stopped or blocked has not read its sockets either: such a gap counts as two sweeps at most.
    const passedMs = Math.min(now - this.sweptAtMs, 2 * this.sweepMs);
    this.sweptAtMs = now;
    for (const run of this.runs) {
      if (run.heard || run.paused) {
        run.heard = false;
        run.quietMs = 0;
        continue;
      }
      run.quietMs += passedMs;
      if (run.quietMs >= this.silenceMs) run.fallSilent();
    }
  }
}
