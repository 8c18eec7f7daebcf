import assert from 'node:assert/strict';
import test from 'node:test';
import { createNode, heldWithin, isEnding, type NodeStore } from '../../actors/node.ts';
import { servingNode } from '../support/node.ts';

const identity = { id: 'test~aaaaaaaa', name: 'test', cell: null, startedAtMs: 1 };
const lifeOf = (node: NodeStore) => node.get().context.life;

test('HOUSE-13: a node starts, serves at its address, drains and stops; what has no place in that order changes nothing', () => {
  const node = createNode(identity);
  node.send({ type: 'drain' });
  assert.deepEqual([lifeOf(node), isEnding(node)], [{ phase: 'starting' }, false], 'nothing to drain yet');
  node.send({ type: 'serve', url: 'http://127.0.0.1:1' });
  assert.deepEqual([lifeOf(node), isEnding(node)], [{ phase: 'serving', url: 'http://127.0.0.1:1' }, false]);
  node.send({ type: 'drain' });
  node.send({ type: 'serve', url: 'http://127.0.0.1:2' });
  assert.deepEqual([lifeOf(node), isEnding(node)], [{ phase: 'draining', url: 'http://127.0.0.1:1' }, true]);
  node.send({ type: 'stop' });
  assert.deepEqual([lifeOf(node), isEnding(node)], [{ phase: 'stopped' }, true]);
});

test('HOUSE-13: who selects the life of a node hears of each phase once, and of no count', () => {
  const node = createNode(identity);
  const heard: string[] = [];
  node.select(({ life }) => life).subscribe(({ phase }) => heard.push(phase));
  node.send({ type: 'counted', counts: { conversations: 1 } });
  node.send({ type: 'serve', url: 'http://127.0.0.1:1' });
  node.send({ type: 'counted', counts: { streams: 2 } });
  node.send({ type: 'drain' });
  node.send({ type: 'drain' });
  assert.deepEqual(heard, ['serving', 'draining']);
  assert.deepEqual([node.get().context.conversations, node.get().context.streams], [1, 2]);
});

test('HOUSE-13: heldWithin is true at once, or as soon as it holds, and false when its time is over', async () => {
  const node = servingNode();
  const isIdle = ({ conversations }: { conversations: number }) => conversations === 0;
  assert.equal(await heldWithin(node, isIdle, 60_000), true);
  node.send({ type: 'counted', counts: { conversations: 2 } });
  const idle = heldWithin(node, isIdle, 60_000);
  node.send({ type: 'counted', counts: { conversations: 1 } });
  node.send({ type: 'counted', counts: { conversations: 0 } });
  assert.equal(await idle, true);
  node.send({ type: 'counted', counts: { conversations: 1 } });
  assert.equal(await heldWithin(node, isIdle, 1), false);
});
