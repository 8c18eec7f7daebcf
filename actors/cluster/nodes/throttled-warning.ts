/** A warning that would repeat: written at most once a minute, with how often it was due. */
import type { Logger } from 'pino';

const QUIET_MS = 60_000;

/** `fields` hold no message text and nothing secret. */
export type ThrottledWarning = (fields: Readonly<Record<string, unknown>>) => void;

/** Each returned function has a minute of its own. `nowMs` only ever rises. */
export function throttledWarning(log: Logger, message: string, nowMs: () => number = () => performance.now()): ThrottledWarning {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  let times = 0;
  return (fields) => {
    times += 1;
    if (nowMs() < quietUntilMs) return;
    log.warn({ ...fields, times }, message);
    quietUntilMs = nowMs() + QUIET_MS;
    times = 0;
  };
}
