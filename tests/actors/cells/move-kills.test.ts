/** A move whose cells die at any moment, while somebody writes to the organisation all along. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import fc from 'fast-check';
import { readMove } from '../../../storage/moving/moves.ts';
import { StorageError } from '../../../storage/sqlite/storage-error.ts';
import { readUploadFile } from '../../../storage/uploads/upload-files.ts';
import { eventually } from '../../support/eventually.ts';
import { scaled } from '../../support/scale.ts';
import {
  codeHashes,
  issueCode,
  type MoveFixture,
  note,
  openFixture,
  type TestCell,
  takesWrites,
  upload,
  uploadIds,
  type Wrap,
} from './move-fixture.ts';

/** What a process does after it has died. */
class Dead extends Error {}

/** One life: ends before the operation with this number, or right after it where nobody learns that it was done. */
class Life {
  readonly #endsAt: number;
  readonly #after: boolean;
  readonly #watch: () => void;
  readonly #died: () => void;
  operations = 0;
  over = false;

  constructor(endsAt: number, after: boolean, watch: () => void, died: () => void) {
    this.#endsAt = endsAt;
    this.#after = after;
    this.#watch = watch;
    this.#died = died;
  }

  readonly wrap: Wrap = (world, operations) =>
    new Proxy(world, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        if (!operations.includes(String(name))) return value.bind(target);
        return (...given: unknown[]) => this.#perform(() => (value as (...given: unknown[]) => Promise<unknown>).apply(target, given));
      },
    });

  async #perform(operation: () => Promise<unknown>): Promise<unknown> {
    if (this.over) throw new Dead('dead');
    const isLast = this.operations === this.#endsAt;
    this.operations += 1;
    if (isLast && !this.#after) this.#end();
    const outcome = await operation();
    this.#watch();
    if (isLast) this.#end();
    if (this.over) throw new Dead('dead');
    return outcome;
  }

  #end(): never {
    this.over = true;
    this.#died();
    throw new Dead('dead');
  }
}

/** Somebody who writes wherever writes are taken, and remembers what was acknowledged. */
class Writer {
  readonly rows: string[] = [];
  readonly codes: string[] = [];
  readonly #fixture: MoveFixture;
  readonly #loop: Promise<void>;
  #stopped = false;

  constructor(fixture: MoveFixture) {
    this.#fixture = fixture;
    this.#loop = this.#write();
  }

  async #write(): Promise<void> {
    const { a, b, organisationId } = this.#fixture;
    while (!this.#stopped) {
      for (const cell of [a, b]) {
        // Nobody is led to a cell that has never had the organisation.
        if (existsSync(cell.storage.layout.organisation(organisationId))) await this.#tryAt(cell);
      }
      await nextTick();
    }
  }

  async #tryAt(cell: TestCell): Promise<void> {
    try {
      this.rows.push(await note(cell, this.#fixture));
      // A request that was let in goes on where it is, and writes to the control file.
      this.codes.push(await issueCode(cell, this.#fixture, `code${this.rows.length}`));
    } catch (error) {
      // Sealed, or busy while the file is being emptied: nothing was written.
      if (!(error instanceof StorageError && error.retryable)) throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
  }
}

interface Kill {
  readonly operation: number;
  readonly after: boolean;
}

interface Story {
  readonly source: readonly Kill[];
  readonly target: readonly Kill[];
  /** Another node of the source drives the same move, and does not die. */
  readonly rival: boolean;
}

/** One life after another, each as long as the next kill lets it be; the last one does not end by itself. */
function relive(kills: readonly Kill[], watch: () => void, born: (life: Life) => void): void {
  const [kill, ...later] = kills;
  // Not from within what it was at when it died.
  const died = () => void setImmediate(() => relive(later, watch, born));
  born(new Life(kill?.operation ?? -1, kill?.after === true, watch, died));
}

function onlyDead(error: unknown): void {
  assert.ok(error instanceof Dead, String(error));
}

/** The organisation goes back and forth, whatever happens on its way, and one person writes to it all along. */
class Traveller {
  readonly #fixture: MoveFixture;
  readonly #kept: string;
  readonly #writer: Writer;
  #from: TestCell;
  #to: TestCell;

  constructor(fixture: MoveFixture, kept: string) {
    this.#fixture = fixture;
    this.#kept = kept;
    this.#writer = new Writer(fixture);
    this.#from = fixture.a;
    this.#to = fixture.b;
  }

  /** Moves the organisation while its cells die as told, and checks all that must hold. */
  async survive(story: Story): Promise<void> {
    const [from, to, { organisationId }] = [this.#from, this.#to, this.#fixture];
    const watch = () => assert.ok(!(takesWrites(from, organisationId) && takesWrites(to, organisationId)), 'two copies take writes');
    const nodes = [from.node()];
    relive(story.target, watch, (life) => {
      to.arriving = to.receive(life.wrap);
      void to.arriving.resume().catch(onlyDead);
    });
    relive(story.source, watch, (life) => {
      for (const dead of nodes.splice(0)) void dead.close();
      nodes.push(from.node({ wrap: life.wrap }));
      if (story.rival) nodes.push(from.node());
      for (const node of nodes) node.watch();
    });
    const read = () => readMove(from.storage.control, organisationId);
    const isDone = async () => {
      watch();
      // As a person does who was not answered.
      if (read() === undefined) await nodes[0]?.begin(organisationId, to.id).catch(onlyDead);
      return read()?.step === 'done';
    };
    await eventually(isDone, undefined, () => `the move stays at ${read()?.step}: ${read()?.error}`);
    await Promise.all(nodes.map((node) => node.close()));
    await this.#prove();
    [this.#from, this.#to] = [to, from];
  }

  async #prove(): Promise<void> {
    const [from, to, { organisationId }] = [this.#from, this.#to, this.#fixture];
    const { rows, codes } = this.#writer;
    // What is written from here on is written at the new place.
    const enough = rows.length + 2;
    await eventually(() => rows.length >= enough);
    assert.deepEqual([takesWrites(from, organisationId), takesWrites(to, organisationId)], [false, true]);
    const [saidRows, saidCodes] = [[...rows], [...codes]];
    const [foundRows, foundCodes] = [new Set(uploadIds(to, organisationId)), new Set(codeHashes(to, organisationId))];
    assert.deepEqual(
      [...saidRows.filter((id) => !foundRows.has(id)), ...saidCodes.filter((hash) => !foundCodes.has(hash))],
      [],
      'acknowledged, and lost',
    );
    assert.deepEqual(uploadIds(from, organisationId), []);
    assert.deepEqual(await readUploadFile(to.storage, organisationId, this.#kept), Buffer.from('kept'));
  }

  async rest(): Promise<void> {
    await this.#writer.stop();
  }
}

async function travel(t: TestContext, stories: (traveller: Traveller) => Promise<void>): Promise<void> {
  const fixture = await openFixture(t);
  const traveller = new Traveller(fixture, await upload(fixture.a, fixture, Buffer.from('kept')));
  try {
    await stories(traveller);
  } finally {
    await traveller.rest();
  }
}

/** More operations than either side has in a life that is not cut short: a number beyond its end kills nobody. */
const OPERATIONS = 24;

const kill = fc.record({ operation: fc.nat({ max: OPERATIONS }), after: fc.boolean() });
const story = fc.record({ source: fc.array(kill, { maxLength: 5 }), target: fc.array(kill, { maxLength: 3 }), rival: fc.boolean() });

test('CELL-9: whichever cell dies, and whenever, at most one copy takes writes and nothing acknowledged is lost', async (t) => {
  await travel(t, (traveller) =>
    fc.assert(
      fc.asyncProperty(story, (one) => traveller.survive(one)),
      { numRuns: scaled(300, 4), endOnFailure: true, includeErrorInReport: true },
    ),
  );
});

test('CELL-9: each moment of a move is a good one to die', async (t) => {
  await travel(t, async (traveller) => {
    for (let moment = 0; moment < 2 * OPERATIONS; moment += scaled(1, 11)) {
      const operation = Math.floor(moment / 2);
      const after = moment % 2 === 1;
      await traveller.survive({ source: [{ operation, after }], target: [{ operation: operation % 10, after: !after }], rival: false });
    }
  });
});
