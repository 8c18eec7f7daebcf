import assert from 'node:assert/strict';
import test from 'node:test';
import { type KnowledgeSourceEvent, type KnowledgeSourceState, knowledgeSource } from '../../machines/knowledge-source.ts';
import { SOURCE_EVENTS } from '../../machines/simulator/samples.ts';
import { stepper } from '../../machines/step.ts';
import { sourceSimplePaths } from './setup-paths.ts';

type EventType = KnowledgeSourceEvent['type'];

/** Where each event leads; the state itself where nothing changes. */
const TABLE: Record<KnowledgeSourceState, Record<EventType, KnowledgeSourceState>> = {
  pending: {
    'source.updated': 'pending',
    'source.restored': 'pending',
    'source.archived': 'archived',
    'indexing.began': 'indexing',
    'indexing.finished': 'pending',
    'indexing.failed': 'failed',
    'indexing.stopped': 'pending',
    'process.lost': 'pending',
  },
  indexing: {
    'source.updated': 'pending',
    'source.restored': 'indexing',
    'source.archived': 'archived',
    'indexing.began': 'indexing',
    'indexing.finished': 'indexed',
    'indexing.failed': 'failed',
    'indexing.stopped': 'indexing',
    'process.lost': 'indexing',
  },
  indexed: {
    'source.updated': 'pending',
    'source.restored': 'indexed',
    'source.archived': 'archived',
    'indexing.began': 'indexed',
    'indexing.finished': 'indexed',
    'indexing.failed': 'indexed',
    'indexing.stopped': 'indexed',
    'process.lost': 'indexed',
  },
  failed: {
    'source.updated': 'pending',
    'source.restored': 'pending',
    'source.archived': 'archived',
    'indexing.began': 'failed',
    'indexing.finished': 'failed',
    'indexing.failed': 'failed',
    'indexing.stopped': 'failed',
    'process.lost': 'failed',
  },
  archived: {
    'source.updated': 'pending',
    'source.restored': 'pending',
    'source.archived': 'archived',
    'indexing.began': 'archived',
    'indexing.finished': 'archived',
    'indexing.failed': 'archived',
    'indexing.stopped': 'archived',
    'process.lost': 'archived',
  },
};

for (const state of Object.keys(TABLE) as KnowledgeSourceState[]) {
  for (const type of Object.keys(TABLE[state]) as EventType[]) {
    test(`KNOWLEDGE-3: a source that is ${state} × ${type}`, () => {
      for (const event of SOURCE_EVENTS[type]) {
        const step = stepper(knowledgeSource, { stored: { state, context: { attempts: 1 } } }).send(event);
        assert.equal(step.state, TABLE[state][type]);
        assert.deepEqual(step.effects, []);
      }
    });
  }
}

test('KNOWLEDGE-3: on every way a source is indexed only by an indexer that began after the last change', () => {
  let indexed = 0;
  for (const path of sourceSimplePaths()) {
    const machine = stepper(knowledgeSource);
    for (const event of path) machine.send(event);
    if (machine.state !== 'indexed') continue;
    indexed += 1;
    const types = path.map((event) => event.type);
    const changed = types.findLastIndex((type) => type.startsWith('source.'));
    const since = types.slice(changed + 1);
    assert.deepEqual([since[0], since.at(-1)], ['indexing.began', 'indexing.finished'], JSON.stringify(path));
  }
  assert.ok(indexed > 0);
});

test('KNOWLEDGE-8: what two processes ended in is not begun a third time; what was stopped or is sent again is', () => {
  const after = (...types: EventType[]) => {
    const machine = stepper(knowledgeSource);
    for (const type of types) for (const event of SOURCE_EVENTS[type]) machine.send(event);
    return machine.state;
  };
  const lost = ['indexing.began', 'process.lost'] as const;
  assert.equal(after(...lost, 'indexing.began'), 'indexing');
  assert.equal(after(...lost, ...lost, 'indexing.began'), 'failed');
  assert.equal(after(...lost, 'indexing.began', 'indexing.stopped', 'indexing.began'), 'indexing');
  assert.equal(after(...lost, 'indexing.began', 'indexing.stopped', ...lost, 'indexing.began'), 'failed');
  assert.equal(after(...lost, ...lost, 'source.updated', 'indexing.began'), 'indexing');
  assert.equal(after(...lost, ...lost, 'indexing.began', 'source.restored', ...lost, 'indexing.began'), 'indexing');
});
