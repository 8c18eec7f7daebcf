import assert from 'node:assert/strict';
import test from 'node:test';
import { stepper } from '../../src/actors/step.ts';
import { type KnowledgeSourceEvent, type KnowledgeSourceState, knowledgeSource } from '../../src/machines/knowledge-source.ts';
import { SOURCE_EVENTS, sourceSimplePaths } from './setup-paths.ts';

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
    'process.lost': 'pending',
  },
  indexing: {
    'source.updated': 'pending',
    'source.restored': 'indexing',
    'source.archived': 'archived',
    'indexing.began': 'indexing',
    'indexing.finished': 'indexed',
    'indexing.failed': 'failed',
    'process.lost': 'indexing',
  },
  indexed: {
    'source.updated': 'pending',
    'source.restored': 'indexed',
    'source.archived': 'archived',
    'indexing.began': 'indexed',
    'indexing.finished': 'indexed',
    'indexing.failed': 'indexed',
    'process.lost': 'indexed',
  },
  failed: {
    'source.updated': 'pending',
    'source.restored': 'pending',
    'source.archived': 'archived',
    'indexing.began': 'failed',
    'indexing.finished': 'failed',
    'indexing.failed': 'failed',
    'process.lost': 'failed',
  },
  archived: {
    'source.updated': 'pending',
    'source.restored': 'pending',
    'source.archived': 'archived',
    'indexing.began': 'archived',
    'indexing.finished': 'archived',
    'indexing.failed': 'archived',
    'process.lost': 'archived',
  },
};

for (const state of Object.keys(TABLE) as KnowledgeSourceState[]) {
  for (const type of Object.keys(TABLE[state]) as EventType[]) {
    test(`Knowledge source: ${state} × ${type}`, () => {
      for (const event of SOURCE_EVENTS[type]) {
        const step = stepper(knowledgeSource, { stored: { state, context: {} } }).send(event);
        assert.equal(step.state, TABLE[state][type]);
        assert.deepEqual(step.effects, []);
      }
    });
  }
}

test('Knowledge source: on every way a source is indexed only by an indexer that began after the last change', () => {
  let indexed = 0;
  for (const path of sourceSimplePaths()) {
    const machine = stepper(knowledgeSource);
    for (const event of path) machine.send(event);
    if (machine.state !== 'indexed') continue;
    indexed += 1;
    const types = path.map((event) => event.type);
    const changed = types.findLastIndex((type) => type.startsWith('source.'));
    assert.deepEqual(types.slice(changed + 1), ['indexing.began', 'indexing.finished'], JSON.stringify(path));
  }
  assert.ok(indexed > 0);
});
