/** Every component in every state, beside its picture in the documents. `npm run screenshots` takes them anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, keptLook, LOOKS, type Look, type Taken, takeLook } from '../../tools/component-pictures.ts';
import { openWorld } from './browser.ts';

/** The share of coarse points: another machine may lack a face for code or arrows. */
const SHARE_MAX = 0.05;

const namesOf = (all: readonly Taken[]) => all.map(({ type, places }) => [type, places.map(({ name }) => name)]);

test('BLOCKVIEW-13: every component looks in every state as its picture in the documents, light, dark and from right to left', async (t) => {
  const world = await openWorld(t);
  const { page } = await world.open();
  for (const look of Object.keys(LOOKS) as Look[]) {
    const kept = keptLook(look);
    const now = await takeLook(world, look);
    assert.deepEqual(namesOf(now), namesOf(kept), 'after a change of components run npm run screenshots');
    const found = [];
    for (const [at, one] of now.entries()) found.push(...(await differences(page, one, kept[at] ?? one)));
    assert.deepEqual(
      found.filter(({ share }) => share > SHARE_MAX),
      [],
      `${look}: look at them, and run npm run screenshots if they are right`,
    );
  }
});

test('BLOCKVIEW-13: a drawing that falls apart is seen', async (t) => {
  const world = await openWorld(t);
  const { page } = await world.open();
  const now = await takeLook(world, 'light');
  const found = [];
  for (const one of now) {
    // Each state beside the one before it.
    const boxes = one.places.map(({ box }) => box);
    const moved = one.places.map(({ name }, at) => ({ name, box: boxes.at(at - 1) ?? [0, 0, 1, 1] }) as const);
    found.push(...(await differences(page, one, { ...one, places: moved })));
  }
  const seen = found.filter(({ share }) => share > SHARE_MAX);
  assert.ok(seen.length > found.length * 0.5, `${seen.length} of ${found.length}`);
});
