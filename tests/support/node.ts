/** The store of a node that serves, for tests of what selects from it or counts into it. */
import { createNode, type NodeIdentity, type NodeStore } from '../../actors/node.ts';

export function servingNode(identity: Partial<NodeIdentity> = {}, url = 'http://127.0.0.1:8787'): NodeStore {
  const node = createNode({ id: 'test~aaaaaaaa', name: 'test', cell: null, startedAtMs: 1, ...identity });
  node.send({ type: 'serve', url });
  return node;
}
