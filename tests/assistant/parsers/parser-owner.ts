/** A program that owns two parsers, one idle and one in a document that never ends, and says their process ids. */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTick } from 'node:timers/promises';
import { launchOf } from '../../../assistant/parsers/launch.ts';
import { ParserProcess } from '../../../assistant/parsers/parser-process.ts';
import { innermost } from '../../support/process.ts';

const launch = launchOf({ heapMaxMb: 256, dataMaxMb: 512, cpuMaxS: 60 }, 640);
const [idle, busy] = [new ParserProcess(launch), new ParserProcess(launch)];
const request = (mediaType: string) => ({ job: 'document', input: { mediaType } }) as const;
for (const parser of [idle, busy]) await parser.parse({ request: request('text/plain'), bytes: Buffer.from('Hi.'), timeoutMs: 60_000 });
void busy.parse({ request: request('text/html'), bytes: Buffer.from('<div>'.repeat(200_000)), timeoutMs: 60_000 });
// The second is at work on its document once it has used the processor for it.
const cpuTicks = () =>
  readFileSync(`/proc/${innermost(busy.pid)}/stat`, 'utf8')
    .split(' ')
    .slice(13, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0);
const before = cpuTicks();
while (cpuTicks() < before + 5) await nextTick();
process.stdout.write(`${innermost(idle.pid)} ${innermost(busy.pid)}\n`);
