/** Entry point of the soak: `npm run soak -- --minutes 120`. Ends with 1 when something was not flat or wrong. docs/architecture.md names it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDice, seedOfRun } from '../../tests/support/seeded.ts';
import { projectDir } from '../load/compile.ts';
import { soakHtml } from './page.ts';
import { soak } from './soak.ts';

const HELP = `Mixed load with kills, restarts, moves and jumps of the clock; everything that could leak is sampled and has to stay flat.

  npm run soak                     two hours
  npm run soak -- --minutes N      so long (120); memory is judged from 20 minutes on
  --out DIR                        where soak.html and soak.json go (bench/out)

Needs redis-server; with a C compiler the clock jumps, too. SEED draws the same again.`;

/** A day. */
const MINUTES_MAX = 1_440;

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { minutes: text, out: text, help: { type: 'boolean' } } });
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const minutes = Number(values.minutes ?? '120');
  if (!(minutes >= 1 && minutes <= MINUTES_MAX)) throw new Error(`--minutes takes a number from 1 to ${MINUTES_MAX}`);
  const out = values.out ?? join(projectDir(), 'bench', 'out');
  mkdirSync(out, { recursive: true });
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  const stopping = { gently: end.signal, atOnce: new AbortController().signal, by: () => undefined };
  const seed = seedOfRun();
  console.log(`${minutes} minutes, seed ${seed}`);
  const soaked = await soak({ minutes, dice: createDice(seed), stopping, say: console.log });
  writeFileSync(join(out, 'soak.json'), JSON.stringify({ seed, ...soaked }));
  writeFileSync(join(out, 'soak.html'), soakHtml(soaked));
  console.log(`${soaked.turns} turns. ${soaked.violations.join('\n') || 'All flat.'}\n${join(out, 'soak.html')}`);
  return soaked.violations.length === 0 ? 0 : 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
