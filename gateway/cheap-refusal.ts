/** Refusals that come by the thousand, from whoever asks too often or all at once. */
import { type ErrorCode, Refusal, type RefusalOptions } from '../protocol/errors.ts';

/** A refusal without a stack trace: nobody reads where a limit was met, and noting it is a fifth of what such an answer costs. */
export function cheapRefusal(code: ErrorCode, message: string, options: RefusalOptions): Refusal {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const refusal = new Refusal(code, message, options);
  Error.stackTraceLimit = stackTraceLimit;
  return refusal;
}
