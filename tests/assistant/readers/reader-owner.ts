/** A program that owns two readers, one idle and one in a document that never ends, and says their process ids. */
import { launchOf } from '../../../assistant/readers/launch.ts';
import { ReaderProcess } from '../../../assistant/readers/reader-process.ts';

const launch = launchOf({ heapMaxMb: 256, dataMaxMb: 512, cpuMaxS: 60 }, 640);
const [idle, busy] = [new ReaderProcess(launch), new ReaderProcess(launch)];
const request = (mediaType: string) => ({ reading: 'document', input: { mediaType } }) as const;
for (const reader of [idle, busy]) await reader.read({ request: request('text/plain'), bytes: Buffer.from('Hi.'), timeoutMs: 60_000 });
void busy.read({ request: request('text/html'), bytes: Buffer.from('<div>'.repeat(200_000)), timeoutMs: 60_000 });
// Given, and begun with.
setTimeout(() => process.stdout.write(`${idle.pid} ${busy.pid}\n`), 200);
