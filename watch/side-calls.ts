/** The side thread's own end: takes one call after the other from its port and answers each with its value, or why there is none. */
import { parentPort } from 'node:worker_threads';

export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
}

export type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `code`: of the error, where it has one. */
  | { readonly ok: false; readonly message: string; readonly code: string | undefined };

/** Serves these calls to whoever made this thread. */
export function serveCalls(calls: Readonly<Record<string, (input: never) => unknown>>): void {
  parentPort?.on('message', ({ name, input }: CallRequest) => {
    let answer: CallAnswer;
    try {
      const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
      if (call === undefined) throw new Error(`there is no call ${name}`);
      answer = { ok: true, value: call(input as never) };
    } catch (error) {
      const { code } = error as { code?: unknown };
      answer = {
        ok: false,
        message: error instanceof Error ? error.message : String(error),
        code: typeof code === 'string' ? code : undefined,
      };
    }
    parentPort?.postMessage(answer);
  });
}
