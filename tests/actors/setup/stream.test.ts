/** Whoever reads a session is woken by whatever is done to it, however late they come. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FrameSource } from '../../../actors/frame-source.ts';
import { sessionSource } from '../../../actors/setup/stream.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { storeApp } from './app-in-storage.ts';
import { setupOnStorage } from './setup-on-storage.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

/** A session, readers of it, and something that happens to it. */
async function watched(t: TestContext) {
  const { storage, organisationId, appId } = await storeApp(t, NOW);
  const setup = setupOnStorage(t, { storage, nowMs: () => NOW });
  const app = readApp(storage.organisation(organisationId), appId, organisationId);
  assert.ok(app);
  const { row } = await setup.sessions.open(app, 'setup');
  const ref = { sessionId: row.id, organisationId, appId };
  return {
    source: (): FrameSource =>
      sessionSource(storage, ref, setup.sessions, { event: (event) => event, session: ({ revision }) => ({ revision }) }),
    /** One line more. */
    async happen(title: string): Promise<void> {
      const line = { step: 'connected', status: 'progress', title, detail: null, data: null, origin: 'server' } as const;
      await setup.sessions.change(ref, () => ({ events: [line] }));
    },
  };
}

/** How often a reader was woken, and how it leaves. */
function reader(source: FrameSource): { woken: number; leave(): void } {
  const seen = { woken: 0, leave: () => {} };
  seen.leave = source.subscribe(() => {
    seen.woken += 1;
  });
  return seen;
}

test('SETUP-56: a reader that comes after others have worked on the session is woken by what follows', async (t) => {
  const session = await watched(t);
  const source = session.source();
  await session.happen('Before anybody reads.');
  const late = reader(source);
  await session.happen('While somebody reads.');
  await nextTick();
  assert.equal(late.woken, 1);
  assert.match(source.read(1, 10_000).text, /Before anybody reads\.[\s\S]*While somebody reads\./);
});

test('SETUP-56: a watcher that leaves twice takes nobody else with it', async (t) => {
  const session = await watched(t);
  const source = session.source();
  const first = reader(source);
  first.leave();
  const second = reader(session.source());
  first.leave();
  await session.happen('Something.');
  await nextTick();
  assert.deepEqual([first.woken, second.woken], [0, 1]);
  second.leave();
  await session.happen('More.');
  await nextTick();
  assert.equal(second.woken, 1);
});
