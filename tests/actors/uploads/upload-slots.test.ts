/** Places for uploads, the pace that they have to keep, and who makes room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UploadSlot, UploadSlots } from '../../../actors/uploads/upload-slots.ts';
import { Refusal } from '../../../protocol/errors.ts';

function fixture() {
  let now = 0;
  const places = new UploadSlots(() => now);
  const ended: string[] = [];
  let count = 0;
  const enter = (name: string, address = `at ${count++}`, appId = 'app'): UploadSlot | string => {
    try {
      const place = places.enter({ appId, address, deviceId: name });
      place.whenEnded((refusal) => ended.push(`${name} ${refusal.code}`));
      return place;
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error.code;
    }
  };
  const inside = (...given: Parameters<typeof enter>): UploadSlot => {
    const place = enter(...given);
    assert.ok(typeof place !== 'string', String(place));
    return place;
  };
  return {
    ended,
    enter,
    inside,
    pass(ms: number) {
      now += ms;
      places.look();
    },
  };
}

test('UPLOAD-6: four at once of a device, and of an address whatever devices it names; the others have theirs', () => {
  const { enter, inside } = fixture();
  const places = Array.from({ length: 4 }, (_, n) => inside(`d${n}`, 'home'));
  assert.equal(enter('d5', 'home'), 'uploads_unavailable');
  places[0]?.leave();
  places[0]?.leave();
  inside('d5', 'home');
  assert.equal(enter('d6', 'home'), 'uploads_unavailable');
  for (let n = 0; n < 4; n++) inside('same');
  assert.equal(enter('same'), 'uploads_unavailable');
});

test('UPLOAD-6: an app that counts no addresses has no places by address either', () => {
  const { enter, inside } = fixture();
  for (let n = 0; n < 8; n++) inside(`d${n}`, '');
  assert.equal(enter('d8', ''), 'uploads_unavailable', 'the app’s own bound');
});

test('UPLOAD-6: four slow uploads of an address keep no other device of it out; a device makes no room for itself', () => {
  const { ended, enter, inside, pass } = fixture();
  for (let n = 0; n < 4; n++) inside(`d${n}`, 'office').arrived(n === 2 ? 10 : 20_000, false);
  assert.equal(enter('early', 'office'), 'uploads_unavailable', 'those have just begun');
  for (let n = 0; n < 4; n++) inside('same', 'home').arrived(10, false);
  pass(2_000);
  assert.equal(enter('same', 'home'), 'uploads_unavailable');
  inside('late', 'office').arrived(1_000_000, false);
  assert.deepEqual(ended, ['d2 upload_too_slow']);
});

test('UPLOAD-5: what comes with less than 8 KB a second over ten seconds is ended, also when it was quick before; what is whole is left alone', () => {
  const { ended, inside, pass } = fixture();
  const [quick, slow, whole] = [inside('quick'), inside('slow'), inside('whole')];
  quick.arrived(100_000, false);
  slow.arrived(1_000_000, false);
  whole.arrived(10, true);
  pass(10_000);
  assert.deepEqual(ended, []);
  quick.arrived(200_000, false);
  slow.arrived(1_080_000, false);
  pass(10_000);
  assert.deepEqual(ended, ['slow upload_too_slow']);
});

test('UPLOAD-5: nothing takes longer than 180 seconds', () => {
  const { ended, inside, pass } = fixture();
  const place = inside('steady');
  for (let s = 10; s < 180; s += 10) {
    place.arrived(s * 10_000, false);
    pass(10_000);
  }
  assert.deepEqual(ended, []);
  place.arrived(1_800_000, false);
  pass(10_000);
  assert.deepEqual(ended, ['steady upload_too_slow']);
});

test('UPLOAD-6: eight slow uploads of an app keep nobody out: the slowest makes room; quick ones do not, nor those that have just begun', () => {
  const { ended, enter, inside, pass } = fixture();
  for (let n = 0; n < 8; n++) inside(`d${n}`).arrived(n === 3 ? 10 : 20_000, false);
  assert.equal(enter('early'), 'uploads_unavailable');
  pass(2_000);
  inside('late').arrived(1_000_000, false);
  assert.deepEqual(ended, ['d3 upload_too_slow']);
  for (let n = 0; n < 7; n++) inside(`quick${n}`).arrived(1_000_000, false);
  assert.equal(ended.length, 8);
  pass(2_000);
  assert.equal(enter('ninth'), 'uploads_unavailable');
});

test('UPLOAD-6: sixteen slow uploads of two apps do not keep a third out', () => {
  const { ended, inside, pass } = fixture();
  for (let n = 0; n < 16; n++) inside(`d${n}`, undefined, n % 2 === 0 ? 'a' : 'b');
  pass(2_000);
  inside('other', undefined, 'c');
  assert.equal(ended.length, 1);
});
