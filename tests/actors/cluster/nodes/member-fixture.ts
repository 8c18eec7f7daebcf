/** Nodes of a host that see each other: in the test's own process, or in processes that can be paused and killed. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMembers, type Members, type MembersOptions, mintNodeId, type NodeRecord } from '../../../../actors/cluster/nodes/members.ts';
import { createNode, type NodeStore } from '../../../../actors/node.ts';
import { temporaryDir } from '../../../support/temporary-dir.ts';
import { silent } from '../bus/fixture.ts';

const NODE = fileURLToPath(new URL('./member-node.js', import.meta.url));

export interface Node extends Members {
  readonly node: NodeStore;
  readonly lost: string[];
}

export function record(id: string): NodeRecord {
  return { id, name: 'test', pid: process.pid, cell: null, url: null, startedAtMs: 1, state: 'serving', actors: 0 };
}

export interface Child {
  readonly id: string;
  readonly process: ChildProcess;
}

export interface Cell {
  readonly dataDir: string;
  /** A node in this process. */
  open(options?: Partial<MembersOptions>): Promise<Node>;
  /** A node in a process of its own. */
  start(): Promise<Child>;
}

/** Nodes with one DATA_DIR, which end before it is removed. */
export function openCell(t: TestContext): Cell {
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
  });
  const dataDir = temporaryDir(t);
  return {
    dataDir,
    async open(options = {}) {
      const node = options.node ?? createNode({ id: mintNodeId('test'), name: 'test', cell: null, startedAtMs: 1 });
      const members = await createMembers({ dataDir, node, presence: null, log: silent, ...options });
      ends.push(() => members.close());
      const lost: string[] = [];
      members.onLost((node, liveness) => void lost.push(`${node} ${liveness}`));
      return Object.assign(members, { lost, node });
    },
    async start() {
      const id = mintNodeId('child');
      const child = spawn(process.execPath, [NODE, dataDir, id], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      ends.push(() => {
        child.kill('SIGKILL');
        return ended;
      });
      await once(child.stdout, 'data');
      return { id, process: child };
    },
  };
}

export const ids = (members: Members) => members.list().map(({ id }) => id);
