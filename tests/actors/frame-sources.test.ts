/** What every source of frames keeps to (frame-source.ts), wherever its frames come from. A new source is one more row of SUBJECTS. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import pino from 'pino';
import { silentAnnouncer } from '../../actors/announcements.ts';
import { changedSource, type FrameSource } from '../../actors/frame-source.ts';
import { Pairings } from '../../actors/pairing/pairings.ts';
import { sessionSource } from '../../actors/setup/stream.ts';
import { journalSource } from '../../actors/turns/journal.ts';
import { readApp } from '../../storage/apps/apps.ts';
import { World } from './cluster/remote/relay-world.ts';
import { OwnedTurn, rowsOfApp } from './cluster/remote/remote-fixture.ts';
import { storeApp } from './setup/app-in-storage.ts';
import { setupOnStorage } from './setup/setup-on-storage.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const DEVICE = 'a'.repeat(32);
const SILENT = pino({ level: 'silent' });

interface Subject {
  /** What a reader who begins at `from` (0) reads. */
  source(from?: number): FrameSource | Promise<FrameSource>;
  /** Something more is told. */
  happen(): void | Promise<void>;
  /** The last thing is told; undefined: the source has no end. */
  finish?(): void | Promise<void>;
  /** Whoever reads without having subscribed is told the state of things, and not how they came about. */
  readonly tellsState?: true;
}

function committed(turn: OwnedTurn, isLast = false): void {
  turn.beginCommit(isLast);
  turn.finishCommit();
}

/** A turn that says a block a time and commits it. */
function turnOf(t: TestContext) {
  const rows = rowsOfApp(t);
  const turn = new OwnedTurn(rows);
  let n = 0;
  return {
    rows,
    turn,
    happen() {
      n += 1;
      turn.text(`block ${n}, with some words in it`);
      committed(turn);
    },
    finish() {
      turn.text('the last words');
      committed(turn, true);
    },
  };
}

const SUBJECTS: Readonly<Record<string, (t: TestContext) => Subject | Promise<Subject>>> = {
  'the log of a running turn'(t) {
    const { turn, happen, finish } = turnOf(t);
    return { source: () => turn.log, happen, finish };
  },
  'the journal of a turn'(t) {
    const { rows, turn, happen, finish } = turnOf(t);
    return { source: () => journalSource(rows.db, turn.turn, turn.ended ? turn.row.nextSeq : null), happen, finish };
  },
  'a turn of another node'(t) {
    const { turn, happen, finish } = turnOf(t);
    const worlds: World[] = [];
    const arrive = async () => {
      for (const world of worlds) await world.arrive();
    };
    return {
      // Each reader has a relay of its own.
      async source(from = 0) {
        const world = new World(turn);
        worlds.push(world);
        world.relayed.read(from, 1);
        await world.arrive();
        return world.relayed;
      },
      async happen() {
        happen();
        await arrive();
      },
      async finish() {
        finish();
        await arrive();
      },
    };
  },
  'a setup session': async (t) => {
    const { storage, organisationId, appId } = await storeApp(t, NOW);
    const setup = setupOnStorage(t, { storage, nowMs: () => NOW });
    const app = readApp(storage.organisation(organisationId), appId, organisationId);
    assert.ok(app);
    const { row } = await setup.sessions.open(app, 'setup');
    const ref = { sessionId: row.id, organisationId, appId };
    const line = { step: 'connected', status: 'progress', title: 'More.', detail: null, data: null, origin: 'server' } as const;
    return {
      source: () => sessionSource(storage, ref, setup.sessions, { event: (event) => event, session: ({ revision }) => ({ revision }) }),
      happen: async () => void (await setup.sessions.change(ref, () => ({ events: [line] }))),
      tellsState: true,
    };
  },
  'a pairing that is watched': async (t) => {
    const { storage, organisationId, appId } = await storeApp(t, NOW);
    const actors = { watchDevice: () => () => {} };
    const pairings = new Pairings({ storage, actors, others: silentAnnouncer, log: SILENT, nowMs: () => NOW });
    t.after(() => pairings.close());
    const { id, code } = await pairings.open({ id: appId, organisationId });
    const watch = pairings.watch({ organisationId, pairingId: id });
    return {
      source: () => watch.source((row, state) => ({ id: row.id, state })),
      happen: async () => void (await pairings.claim({ organisationId, appId, channel: 'sandbox', deviceId: DEVICE }, code)),
      tellsState: true,
    };
  },
  'a source whose text is changed for its reader'(t) {
    const { turn, happen, finish } = turnOf(t);
    return { source: () => changedSource(turn.log, (text) => text.replaceAll('block', 'piece')), happen, finish };
  },
};

/** All frames from `seq` on, in slices of about so many characters. */
function framesFrom(source: FrameSource, seq: number, maxChars: number): { frames: string[]; nextSeq: number; ended: boolean } {
  const frames: string[] = [];
  let slice = { text: '', nextSeq: seq, ended: false };
  do {
    const next = source.read(slice.nextSeq, maxChars);
    assert.ok(next.nextSeq >= slice.nextSeq, 'a cursor only rises');
    assert.match(next.text, /^(?:|[\s\S]*\n\n)$/, 'frames come whole');
    frames.push(...next.text.split(/(?<=\n\n)/).filter((frame) => frame !== ''));
    slice = next;
  } while (slice.text !== '' && !slice.ended);
  return { frames, nextSeq: slice.nextSeq, ended: slice.ended };
}

/** The seq that follows a frame's own. */
function firstSeqAfter(frame: string): number {
  return Number(/^id: (\d+)$/m.exec(frame)?.[1]) + 1;
}

/** They go on for as long as somebody reads. */
const ENDLESS = ['a setup session', 'a pairing that is watched'];

for (const [name, open] of Object.entries(SUBJECTS)) {
  describe(`a source of frames: ${name}`, () => {
    test('STREAM-4: slices of any size say the same, in whole frames, and from any place on what follows it', async (t) => {
      const subject = await open(t);
      await subject.happen();
      if (subject.tellsState !== true) {
        await subject.happen();
        await subject.finish?.();
      }
      const whole = framesFrom(await subject.source(), 0, EVERYTHING);
      assert.ok(whole.frames.length > 0);
      for (const maxChars of [1, 60]) assert.deepEqual(framesFrom(await subject.source(), 0, maxChars), whole);
      if (subject.tellsState === true) return;
      const nextSeq = firstSeqAfter(whole.frames[0] ?? '');
      assert.deepEqual(framesFrom(await subject.source(nextSeq), nextSeq, EVERYTHING).frames, whole.frames.slice(1));
    });

    if (!ENDLESS.includes(name)) {
      test('STREAM-4: the end is told with the last frames, and nothing after it', async (t) => {
        const subject = await open(t);
        assert.ok(subject.finish !== undefined);
        await subject.happen();
        assert.equal(framesFrom(await subject.source(), 0, EVERYTHING).ended, false);
        await subject.finish();
        const { nextSeq, ended } = framesFrom(await subject.source(), 0, EVERYTHING);
        assert.equal(ended, true);
        assert.deepEqual((await subject.source(nextSeq)).read(nextSeq, EVERYTHING), { text: '', nextSeq, ended: true });
      });
    }

    test('STREAM-4: whoever subscribed is woken once a tick when there is more to read, and not after leaving', async (t) => {
      const subject = await open(t);
      const source = await subject.source();
      const seen = framesFrom(source, 0, EVERYTHING);
      let woken = 0;
      const leave = source.subscribe(() => {
        woken += 1;
      });
      await nextTick();
      woken = 0;
      await subject.happen();
      await nextTick();
      if (name !== 'the journal of a turn') assert.ok(woken > 0, 'woken');
      const more = framesFrom(source, seen.nextSeq, EVERYTHING);
      assert.ok(more.frames.length > 0, 'there is more to read');
      leave();
      // Twice is once.
      leave();
      woken = 0;
      await subject.finish?.();
      await nextTick();
      assert.equal(woken, 0);
    });
  });
}
