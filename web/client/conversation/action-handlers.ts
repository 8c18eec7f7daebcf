/** Owns the app's functions that the assistant may call, and runs them within their time (CLIENT-10). */

import { ACTION_RESULT_MAX_BYTES, TOOL_ERROR_MAX_CHARS } from '../../../protocol/limits.ts';
import type { ToolResult } from '../../../protocol/runtime/chat.ts';
import { clip, fitsBytes } from '../../../protocol/schema/text.ts';
import { jsonOf } from '../json.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../surroundings.ts';
import { inTime, LATE } from '../transport/pause.ts';
import type { Call } from './calls.ts';

export interface ActionCall {
  readonly invocationId: string;
  readonly name: string;
  /** Proof that a person agreed, for the app's backend; of confirmed calls only. */
  readonly receipt: string | undefined;
  /** Aborted when the time is up: what comes later counts no more. */
  readonly signal: AbortSignal;
}

/** Does what the action says and returns what the assistant is to know of it: JSON of at most 16 KB. What it throws is told as a failure. */
export type ActionHandler = (params: Readonly<Record<string, unknown>>, call: ActionCall) => unknown;

export type ActionOutcome = Pick<ToolResult, 'status' | 'result' | 'error'>;

export class ActionHandlers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #handlers = new Map<string, ActionHandler>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The handler of an action from now on, in the place of an earlier one. Returns what takes it away again. */
  register(name: string, handler: ActionHandler): () => void {
    this.#handlers.set(name, handler);
    return () => {
      if (this.#handlers.get(name) === handler) this.#handlers.delete(name);
    };
  }

  /** Runs the handler of a call. Never rejects: whatever happens is an outcome that the assistant is told. */
  async run(call: Call): Promise<ActionOutcome> {
    const handler = this.#handlers.get(call.name);
    const details = { name: call.name, invocation_id: call.invocation_id };
    if (handler === undefined) {
      this.#log.say('warn', 'action_unregistered', details);
      return { status: 'unavailable' };
    }
    try {
      const { params, invocation_id: invocationId, name, receipt, timeout_ms: timeoutMs } = call;
      const cancel = new AbortController();
      const value = await inTime(this.#clock, timeoutMs, () => handler(params, { invocationId, name, receipt, signal: cancel.signal }));
      if (value === LATE) {
        cancel.abort();
        this.#log.say('warn', 'action_timeout', details);
        return { status: 'timeout' };
      }
      return this.#resultOf(value, details);
    } catch (error) {
      this.#log.say('error', 'action_error', { ...details, error });
      return { status: 'error', error: clip(error instanceof Error ? error.message : String(error), TOOL_ERROR_MAX_CHARS) };
    }
  }

  #resultOf(value: unknown, details: Readonly<Record<string, unknown>>): ActionOutcome {
    if (value === undefined) return { status: 'ok' };
    const json = jsonOf(value);
    if (json !== undefined && fitsBytes(json, ACTION_RESULT_MAX_BYTES)) return { status: 'ok', result: JSON.parse(json) };
    this.#log.say('error', 'action_result_invalid', details);
    // It was done, and so it is told: only what came of it is missing.
    return { status: 'ok', result: { note: 'It was done. What it returned could not be passed on.' } };
  }
}
