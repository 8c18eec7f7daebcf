/** What the side thread of the tests does. */
import { serveCalls } from '../../watch/side-thread.ts';

let calls = 0;

export type TestCalls = {
  double(n: number): number;
  count(input: null): number;
  fail(sentence: string): never;
  end(code: number): never;
  wait(gate: SharedArrayBuffer): number;
};

serveCalls({
  double: (n: number) => n * 2,
  count: () => ++calls,
  fail: (sentence: string) => {
    throw new Error(sentence);
  },
  end: (code: number) => process.exit(code),
  /** Until somebody opens the gate. */
  wait: (gate: SharedArrayBuffer) => {
    Atomics.wait(new Int32Array(gate), 0, 0);
    return ++calls;
  },
});
