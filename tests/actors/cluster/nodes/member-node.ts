/** A process that does nothing but be a node of a cell: `node member-node.js <data dir> <id>`. Says `up` when it is one. */

import { pino } from 'pino';
import { createMembers } from '../../../../actors/cluster/nodes/members.ts';
import { createNode } from '../../../../actors/node.ts';

const [dataDir = '', id = ''] = process.argv.slice(2);
const node = createNode({ id, name: 'child', cell: null, startedAtMs: Date.now() });
await createMembers({ dataDir, node, presence: null, log: pino({ level: 'silent' }) });
process.stdout.write('up\n');
// Sockets of nodes keep no process alive.
setInterval(() => {}, 60_000);
