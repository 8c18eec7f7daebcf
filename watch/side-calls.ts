/** The side thread's end: runs one call after the other and answers each with its value or its error. */
import { parentPort } from 'node:worker_threads';

export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
}

export type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `code`: the error's code, if it has one. */
  | { readonly ok: false; readonly message: string; readonly code: string | undefined };

/** Serves these calls to the thread that created this one. */
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
