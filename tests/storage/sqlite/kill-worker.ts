/** A process that writes without end and prints each acknowledged text, to be killed by writer-crash.test.ts. */
import { writeSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Writer } from '../../../storage/sqlite/writer.ts';
import type { transactions } from './writer-registry.ts';

const LANES = 32;
const [path = ''] = process.argv.slice(2);
const writer = new Writer<typeof transactions>({ registryUrl: new URL('./writer-registry.js', import.meta.url) });

/** Prints a line whole, also while the reader of the pipe lags: then there is no room for it, or for a part of it only. */
async function print(line: string): Promise<void> {
  for (let rest = Buffer.from(line); rest.length > 0; ) {
    try {
      // Synchronous: what is printed has been acknowledged, and a kill cannot hold it back in a buffer.
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await nextTick();
    }
  }
}

/** Lines leave one after the other: one that was cut must not get another inside. */
let printed: Promise<void> = Promise.resolve();

async function lane(number: number): Promise<void> {
  for (let n = 0; ; n++) {
    const text = `${number}:${n}`;
    await writer.write(path, 'addNote', { text });
    printed = printed.then(() => print(`${text}\n`));
    await printed;
  }
}

await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
