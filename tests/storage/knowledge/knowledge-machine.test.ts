import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf } from '../../../actors/knowledge/sources.ts';
import { type KnowledgeSourceEvent, knowledgeSource } from '../../../machines/knowledge-source.ts';
import { SOURCE_EVENTS } from '../../../machines/simulator/samples.ts';
import { stepper } from '../../../machines/step.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readSource } from '../../../storage/knowledge/knowledge.ts';
import { sourcesToIndex } from '../../../storage/knowledge/knowledge-overview.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { sourceSimplePaths } from '../../machines/setup-paths.ts';
import { openApp } from '../migrations/migrated-files.ts';
import { StoredSources } from './stored-sources.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const KEY = 'article';

/** A source in the file, to which the machine's events are done as the service does them. */
class StoredSource {
  readonly #db: Connection;
  readonly #appId: string;
  readonly #sources: StoredSources;
  #version = 1;
  id = '';

  constructor(db: Connection, appId: string) {
    this.#db = db;
    this.#appId = appId;
    this.#sources = new StoredSources(db, NOW);
  }

  async save(): Promise<void> {
    const input = {
      sourceId: mintId('kno', NOW),
      appId: this.#appId,
      externalKey: KEY,
      kind: 'text',
      title: 'An article',
      uri: null,
    } as const;
    this.id = (await this.#sources.save({ ...input, content: `Version ${this.#version}.`, origin: 'setup', reason: null })).id;
  }

  get row() {
    const row = readSource(this.#db, this.id);
    assert.ok(row);
    return row;
  }

  async apply(event: KnowledgeSourceEvent): Promise<void> {
    const content = this.#sources.content(this.id);
    switch (event.type) {
      case 'source.updated':
        this.#version += 1;
        await this.save();
        break;
      case 'source.restored':
        await this.save();
        break;
      case 'source.archived':
        await this.#sources.archive(this.#appId, KEY);
        break;
      case 'indexing.began':
        await this.#sources.begin(content);
        break;
      case 'indexing.finished':
        await this.#sources.finish(content, [{ ordinal: 0, headings: [], text: `Version ${this.#version}.` }]);
        break;
      case 'indexing.failed':
        await this.#sources.fail(content, event.error);
        break;
      case 'indexing.stopped':
        await this.#sources.stop(content);
        break;
      case 'process.lost':
        // Nothing is written by a process that is gone.
        break;
    }
  }
}

/** Runs `work` and undoes what it wrote: each way starts in the same file, and none waits for the disk. */
async function undone(db: Connection, work: () => Promise<void>): Promise<void> {
  db.statement('BEGIN').run();
  try {
    await work();
  } finally {
    db.statement('ROLLBACK').run();
  }
}

test('KNOWLEDGE-3: on every way through the machine, and for every event after it, the row is where the machine is', async (t) => {
  const { db, appId } = openApp(t, NOW);
  const visited = new Set<string>();
  for (const path of sourceSimplePaths()) {
    for (const last of Object.values(SOURCE_EVENTS).flat()) {
      await undone(db, async () => {
        const machine = stepper(knowledgeSource);
        const stored = new StoredSource(db, appId);
        await stored.save();
        for (const event of [...path, last]) {
          visited.add(`${machine.state} × ${event.type}`);
          machine.send(event);
          await stored.apply(event);
          const { attempts } = machine.snapshot.context;
          assert.deepEqual(placeOf(stored.row), { state: machine.state, attempts }, JSON.stringify([...path, last]));
        }
        const { error, chunks } = stored.row;
        assert.equal(chunks, machine.state === 'indexed' ? 1 : 0, 'there are chunks exactly while it is indexed');
        assert.equal(error !== null, machine.state === 'failed', 'it says why exactly while it is failed');
        const isTakenUp = machine.state === 'pending' || machine.state === 'indexing';
        assert.deepEqual(sourcesToIndex(db, 10), isTakenUp ? [stored.id] : [], 'what waits, or was cut off, is taken up again');
      });
    }
  }
  assert.equal(visited.size, 5 * Object.keys(SOURCE_EVENTS).length, 'every cell of the table was taken');
});
