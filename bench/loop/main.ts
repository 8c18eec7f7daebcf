/** How long single requests keep the event loop: `npm run bench:loop -- [reads] [bodies] [--people 200000 --conversations 1000000]`. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectDir } from '../load/load.ts';
import { SCALE_PLAN } from './large-organisation.ts';
import { loopBodies } from './loop-bodies.ts';
import { loopReads } from './loop-reads.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { people: { type: 'string' }, conversations: { type: 'string' }, 'of-one': { type: 'string' } },
});
const outDir = join(projectDir(), 'bench', 'out');
const plan = {
  people: Number(values.people ?? SCALE_PLAN.people),
  conversations: Number(values.conversations ?? SCALE_PLAN.conversations),
  conversationsOfOne: Number(values['of-one'] ?? SCALE_PLAN.conversationsOfOne),
};
if (positionals.length === 0 || positionals.includes('reads')) await loopReads(outDir, plan);
if (positionals.length === 0 || positionals.includes('bodies')) await loopBodies(outDir);
