/** A process that writes without end and prints each acknowledged text, to be killed by writer-crash.test.ts. */
import { writeSync } from 'node:fs';
import { createWriter } from '../../src/storage/writer.ts';
import type { transactions } from './writer-registry.ts';

const LANES = 32;
const [path = ''] = process.argv.slice(2);
const writer = createWriter<typeof transactions>({ registryUrl: new URL('./writer-registry.js', import.meta.url) });

async function lane(number: number): Promise<void> {
  for (let n = 0; ; n++) {
    const text = `${number}:${n}`;
    await writer.write(path, 'addNote', { text });
    // Synchronous: what is printed has been acknowledged, and a kill cannot hold it back in a buffer.
    writeSync(1, `${text}\n`);
  }
}

await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
