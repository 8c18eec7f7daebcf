/** A process that does nothing but be a node of a cell: `node member-node.js <data dir> <id>`. Says `up` when it is one. */
import { pino } from 'pino';
import { createMembers } from '../../../../actors/cluster/nodes/members.ts';

const [dataDir = '', id = ''] = process.argv.slice(2);
const self = { id, name: 'child', pid: process.pid, cell: null, url: null, startedAtMs: Date.now(), state: 'serving', actors: 0 } as const;
await createMembers({ dataDir, self, presence: null, log: pino({ level: 'silent' }) });
process.stdout.write('up\n');
// Sockets of nodes keep no process alive.
setInterval(() => {}, 60_000);
