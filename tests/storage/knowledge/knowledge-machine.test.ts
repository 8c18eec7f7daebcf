import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { stepper } from '../../../actors/step.ts';
import { type KnowledgeSourceEvent, knowledgeSource } from '../../../machines/knowledge-source.ts';
import { mintId } from '../../../protocol/ids.ts';
import { readSource, transactions } from '../../../storage/knowledge/knowledge.ts';
import { sourcesToIndex } from '../../../storage/knowledge/knowledge-overview.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { SOURCE_EVENTS, sourceSimplePaths } from '../../machines/setup-paths.ts';
import { addApp, openFiles } from '../migrations/migrated-files.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

/** A source in the file, to which the machine's events are done as the service does them. */
class StoredSource {
  readonly #db: Connection;
  readonly #appId: string;
  readonly #externalKey: string;
  readonly id: string;
  #version = 1;

  constructor(db: Connection, appId: string, externalKey: string) {
    this.#db = db;
    this.#appId = appId;
    this.#externalKey = externalKey;
    this.id = this.#upsert();
  }

  #upsert(): string {
    return transactions.upsertSource(this.#db, {
      sourceId: mintId('kno', NOW),
      appId: this.#appId,
      externalKey: this.#externalKey,
      kind: 'text',
      title: 'An article',
      uri: null,
      content: `Version ${this.#version}.`,
      origin: 'setup',
      reason: null,
      nowMs: NOW,
    }).id;
  }

  get row() {
    const row = readSource(this.#db, this.id);
    assert.ok(row);
    return row;
  }

  get state(): string {
    return this.row.archivedAtMs === null ? this.row.state : 'archived';
  }

  apply(event: KnowledgeSourceEvent): void {
    const about = { sourceId: this.id, contentHash: this.row.contentHash, nowMs: NOW };
    switch (event.type) {
      case 'source.updated':
        this.#version += 1;
        this.#upsert();
        break;
      case 'source.restored':
        this.#upsert();
        break;
      case 'source.archived':
        transactions.archiveSource(this.#db, { appId: this.#appId, externalKey: this.#externalKey, nowMs: NOW });
        break;
      case 'indexing.began':
        transactions.beginIndexing(this.#db, about);
        break;
      case 'indexing.finished':
        transactions.replaceChunks(this.#db, { ...about, chunks: [{ ordinal: 0, headings: [], text: `Version ${this.#version}.` }] });
        break;
      case 'indexing.failed':
        transactions.failSource(this.#db, { ...about, error: event.error });
        break;
      case 'indexing.stopped':
        transactions.stopIndexing(this.#db, about);
        break;
      case 'process.lost':
        // Nothing is written by a process that is gone.
        break;
    }
  }
}

/** Runs `work` and undoes what it wrote: each way starts in the same file, and none waits for the disk. */
function undone(db: Connection, work: () => void): void {
  db.statement('BEGIN').run();
  try {
    work();
  } finally {
    db.statement('ROLLBACK').run();
  }
}

function oneApp(t: TestContext): { db: Connection; appId: string } {
  const files = openFiles(t, NOW);
  return { db: files.db, appId: addApp(files, 'Shop', NOW) };
}

test('KNOWLEDGE-3: on every way through the machine, and for every event after it, the row is where the machine is', (t) => {
  const { db, appId } = oneApp(t);
  const visited = new Set<string>();
  for (const path of sourceSimplePaths()) {
    for (const last of Object.values(SOURCE_EVENTS).flat()) {
      undone(db, () => {
        const machine = stepper(knowledgeSource);
        const stored = new StoredSource(db, appId, 'article');
        assert.equal(stored.state, machine.state);
        for (const event of [...path, last]) {
          visited.add(`${machine.state} × ${event.type}`);
          machine.send(event);
          stored.apply(event);
          assert.equal(stored.state, machine.state, JSON.stringify([...path, last]));
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
