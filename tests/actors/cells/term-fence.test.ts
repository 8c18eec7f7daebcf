import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import pino from 'pino';
import { type ClaimPlace, raiseFence, type Standing, TAKE_OVER_WAIT_MS, TERM_LEASE_MS } from '../../../actors/cells/term-fence.ts';
import { Conditions } from '../../../storage/health/conditions.ts';
import { WriteLease } from '../../../storage/sqlite/write-lease.ts';

const LOOK_MS = 2_000;

type Where = 'Redis' | 'the address of the replica';

/** A place of claims that answers as it is told. */
class Place implements ClaimPlace {
  standing: Standing | 'later' | undefined;
  mood: 'answers' | 'away' | 'hangs' = 'answers';
  asked = 0;

  async read(): Promise<Standing | 'later' | undefined> {
    this.asked += 1;
    if (this.mood === 'hangs') return new Promise(() => {});
    if (this.mood === 'away') throw new Error('away');
    return this.standing;
  }

  async replace(was: Standing | undefined, is: Standing): Promise<boolean> {
    const standing = await this.read();
    if (standing === 'later' || standing?.seat !== was?.seat || standing?.next !== was?.next) return false;
    this.standing = is;
    return true;
  }
}

interface Told {
  readonly isReplicated?: boolean;
  /** The seat of this directory is `id.here.boot2`. */
  readonly seats?: readonly string[];
  readonly mayFollow?: boolean;
  readonly isOvertaken?: boolean;
  /** What stands in both places. */
  readonly standing?: Standing;
}

const OWN = 'id.here.boot2';

/** A look reads and writes both places, one after the other. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await tick();
}

/** Two places, and a clock that is moved. */
function world(t: TestContext, { isReplicated = true, seats = [], mayFollow = true, isOvertaken = false, standing }: Told = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000;
  const places: Readonly<Record<Where, Place>> = { Redis: new Place(), 'the address of the replica': new Place() };
  for (const place of Object.values(places)) place.standing = standing;
  const noted: string[] = [];
  let begun = 0;
  const log = pino({ level: 'silent' });
  const conditions = new Conditions(log, () => nowMs);
  const lease = new WriteLease(undefined, () => ({ wallMs: nowMs, steadyMs: nowMs }));
  const fence = raiseFence({
    own: { cell: 'a', term: 1 },
    seat: {
      own: OWN,
      isNew: seats.length === 0,
      wasHere: true,
      had: (seat) => seats.includes(seat),
      isHere: (seat) => seat.startsWith('id.here.'),
      note() {},
    },
    places: isReplicated ? Object.values(places) : [places.Redis],
    mustProve: () => isReplicated,
    mayFollow: () => mayFollow,
    isOvertaken: () => isOvertaken || noted.length > 0,
    noteOvertaken: (sentence) => void noted.push(sentence),
    ...{ lease, conditions, log },
  });
  fence.looked.catch(() => {});
  t.after(() => fence.close());
  fence.whenHeld(() => {
    begun += 1;
  });
  return {
    ...{ places, fence, noted },
    begun: () => begun,
    conditions: () => conditions.list().map(({ name }) => name),
    async pass(ms: number) {
      await settle();
      for (let left = ms; left > 0; left -= LOOK_MS) {
        nowMs += Math.min(left, LOOK_MS);
        t.mock.timers.tick(Math.min(left, LOOK_MS));
        await settle();
      }
    },
  };
}

const MINE = { standing: { seat: OWN } };

test('CELL-17: nothing is written before the first look, and work begins once', async (t) => {
  const { fence, begun, pass } = world(t, MINE);
  assert.deepEqual([fence.holds, begun()], [false, 0]);
  await fence.looked;
  assert.deepEqual([fence.holds, begun()], [true, 1]);
  await pass(60_000);
  assert.deepEqual([fence.holds, begun()], [true, 1]);
});

for (const away of ['Redis', 'the address of the replica'] as const) {
  test(`CELL-17: without ${away} the other place is enough`, async (t) => {
    const { places, fence, conditions, pass } = world(t, MINE);
    await fence.looked;
    places[away].mood = 'away';
    await pass(120_000);
    assert.deepEqual([fence.holds, conditions()], [true, []]);
  });

  test(`CELL-17: once ${away} says that a later term is claimed, it is for good and written down`, async (t) => {
    const { places, fence, conditions, noted, pass } = world(t, MINE);
    await fence.looked;
    places[away].standing = 'later';
    await pass(LOOK_MS);
    assert.deepEqual([fence.holds, conditions(), noted.length], [false, ['fenced'], 1]);
    places[away].standing = { seat: OWN };
    await pass(60_000);
    assert.deepEqual([fence.holds, conditions()], [false, ['fenced']]);
  });

  test(`CELL-18: a claim of another directory in ${away} is one, also while this one writes`, async (t) => {
    const { places, fence, conditions, noted, pass } = world(t, { ...MINE, seats: [OWN] });
    await fence.looked;
    places[away].standing = { seat: 'other.there.boot' };
    await pass(LOOK_MS);
    assert.deepEqual([fence.holds, conditions(), noted.length], [false, ['fenced'], 1]);
  });
}

test('CELL-17: what was written down fences before anything is asked', async (t) => {
  const { fence, places, conditions } = world(t, { ...MINE, isOvertaken: true });
  await fence.looked;
  assert.deepEqual([fence.holds, conditions(), places.Redis.asked], [false, ['fenced'], 0]);
});

test('CELL-17: without either, writes stop before a take-over has waited, and go on when one is back', async (t) => {
  const { places, fence, conditions, pass } = world(t, MINE);
  await fence.looked;
  for (const place of Object.values(places)) place.mood = 'away';
  await pass(TERM_LEASE_MS - 1);
  assert.equal(fence.holds, true);
  await pass(TAKE_OVER_WAIT_MS - TERM_LEASE_MS);
  assert.deepEqual([fence.holds, conditions()], [false, ['term_unproved']]);
  places.Redis.mood = 'answers';
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, conditions()], [true, []]);
});

test('CELL-17: a Redis that lost its claims proves nothing, until the other place has', async (t) => {
  const { places, fence, pass } = world(t, MINE);
  const { Redis, 'the address of the replica': address } = places;
  await fence.looked;
  Redis.standing = undefined;
  address.mood = 'away';
  await pass(TERM_LEASE_MS + LOOK_MS);
  assert.deepEqual([fence.holds, Redis.standing], [false, undefined]);
  address.mood = 'answers';
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, Redis.standing], [true, { seat: OWN }]);
});

test('CELL-17: where no place has any claim, a claim is made once everybody has had the time to show one, unless a replica was noted', async (t) => {
  const lost = world(t);
  lost.places.Redis.mood = 'away';
  await lost.pass(2 * TAKE_OVER_WAIT_MS);
  lost.places.Redis.mood = 'answers';
  await lost.pass(TAKE_OVER_WAIT_MS - LOOK_MS);
  assert.deepEqual([lost.fence.holds, lost.places.Redis.standing], [false, undefined]);
  await lost.pass(2 * LOOK_MS);
  assert.deepEqual([lost.fence.holds, lost.conditions(), lost.places.Redis.standing], [true, [], { seat: OWN }]);
  t.mock.timers.reset();
  const other = world(t, { seats: [OWN] });
  await other.pass(LOOK_MS);
  other.places.Redis.standing = { seat: 'other.there.boot' };
  await other.pass(2 * TAKE_OVER_WAIT_MS);
  assert.equal(other.fence.holds, false, 'the one that lives has shown itself');
  t.mock.timers.reset();
  const noted = world(t, { mayFollow: false });
  await noted.pass(10 * TAKE_OVER_WAIT_MS);
  assert.deepEqual([noted.fence.holds, noted.conditions(), noted.places.Redis.standing], [false, ['term_unproved'], undefined]);
});

test('CELL-17: a cell without a replica writes while Redis is away, and is fenced by a claim', async (t) => {
  const { places, fence, conditions, pass } = world(t, { isReplicated: false });
  places.Redis.mood = 'away';
  await fence.looked;
  await pass(60_000);
  assert.equal(fence.holds, true);
  places.Redis.mood = 'answers';
  places.Redis.standing = 'later';
  await pass(LOOK_MS);
  assert.deepEqual([fence.holds, conditions()], [false, ['fenced']]);
});

test('CELL-17: an address that hangs is asked one question at a time, and Redis counts meanwhile', async (t) => {
  const { places, fence, pass } = world(t, MINE);
  await fence.looked;
  const { 'the address of the replica': address } = places;
  address.mood = 'hangs';
  const before = address.asked;
  await pass(120_000);
  assert.deepEqual([fence.holds, address.asked - before], [true, 1]);
});

test('CELL-18: a claim of an earlier release, which names no directory, becomes the one of who comes first', async (t) => {
  const { places, fence } = world(t, { standing: { by: 'a host' } });
  await fence.looked;
  assert.equal(fence.holds, true);
  assert.deepEqual(
    Object.values(places).map(({ standing }) => standing),
    [{ seat: OWN }, { seat: OWN }],
  );
});

const REBOOTED = { seats: ['id.here.boot1'], standing: { seat: 'id.here.boot1' } };
const COPIED = { seats: ['id.there.boot'], standing: { seat: 'id.there.boot' } };

for (const [what, told] of Object.entries({ 'a directory after a reboot': REBOOTED, 'a copy whose original is gone': COPIED })) {
  test(`CELL-18: ${what} waits as long as a take-over, and is the cell when nobody objects`, async (t) => {
    const { places, fence, pass } = world(t, told);
    await pass(TAKE_OVER_WAIT_MS - 1);
    assert.equal(fence.holds, false);
    assert.equal((places.Redis.standing as Standing).next, OWN);
    await pass(LOOK_MS);
    await fence.looked;
    assert.deepEqual([fence.holds, places.Redis.standing], [true, { seat: OWN }]);
  });

  test(`CELL-18: ${what}, struck out by the one that lives, ends`, async (t) => {
    const { places, fence, pass } = world(t, told);
    await pass(LOOK_MS);
    places['the address of the replica'].standing = told.standing;
    await pass(LOOK_MS);
    await assert.rejects(fence.looked, /^Error: Another data directory serves as cell "a"/);
  });
}

test('CELL-18: who has the claim strikes out whoever waits for it, and writes on', async (t) => {
  const { places, fence, pass } = world(t, MINE);
  await fence.looked;
  for (let round = 0; round < 10; round++) {
    for (const place of Object.values(places)) place.standing = { seat: OWN, next: 'id.there.boot' };
    await pass(LOOK_MS);
    assert.equal(fence.holds, true);
  }
  assert.deepEqual(places.Redis.standing, { seat: OWN });
});

test('CELL-18: after a reboot one place is enough, a copy needs both', async (t) => {
  const rebooted = world(t, REBOOTED);
  rebooted.places.Redis.mood = 'away';
  await rebooted.pass(TAKE_OVER_WAIT_MS + LOOK_MS);
  assert.equal(rebooted.fence.holds, true);
  t.mock.timers.reset();
  const copied = world(t, COPIED);
  copied.places.Redis.mood = 'away';
  await copied.pass(10 * TAKE_OVER_WAIT_MS);
  assert.deepEqual([copied.fence.holds, copied.conditions()], [false, ['term_unproved']]);
});

test('CELL-18: an original whose copy has served since is overtaken, and a new directory never takes a cell that has one', async (t) => {
  const original = world(t, { seats: [OWN], standing: { seat: 'id.there.boot' } });
  await original.fence.looked;
  assert.deepEqual([original.fence.holds, original.noted.length], [false, 1]);
  t.mock.timers.reset();
  const { fence } = world(t, { standing: { seat: 'other.there.boot', by: '/data on h1' }, mayFollow: false });
  await assert.rejects(fence.looked, /^Error: Another data directory, \/data on h1, serves as cell "a"/);
});
