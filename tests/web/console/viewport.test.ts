/** The arithmetic of what a drawing shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitted, fitting, isInside, MARGIN, opened, panned, reframed, type Size, zoomed } from '../../../web/console/machines/viewport.ts';

const sizes: fc.Arbitrary<Size> = fc.record({ width: fc.integer({ min: 50, max: 4_000 }), height: fc.integer({ min: 50, max: 4_000 }) });
/** Fits into every frame. */
const SPECK: Size = { width: 1, height: 1 };
const parts = fc.double({ min: 0, max: 1, noNaN: true });

function isNear(one: number, other: number): void {
  assert.ok(Math.abs(one - other) <= 1e-6 * Math.max(Math.abs(one), Math.abs(other), 1), `${one} is not ${other}`);
}

test('WALK-6: all of the drawing is in the middle, a quarter larger than its own size at most', () => {
  fc.assert(
    fc.property(sizes, sizes, (drawing, frame) => {
      const shown = fitted(drawing, frame);
      isNear(shown.x + shown.width / 2, drawing.width / 2);
      isNear(shown.y + shown.height / 2, drawing.height / 2);
      isNear(shown.width / shown.height, frame.width / frame.height);
      assert.ok(shown.width * 1.25 >= frame.width - 1e-6);
    }),
  );
});

test('WALK-6: a drawing opens no smaller than it was set, whole where it fits, and with the point that matters in sight', () => {
  fc.assert(
    fc.property(sizes, sizes, parts, parts, (drawing, frame, x, y) => {
      const around = { x: drawing.width * x, y: drawing.height * y };
      const shown = opened(drawing, frame, around);
      assert.ok(shown.width <= frame.width + 1e-6);
      assert.ok(isInside(shown, around));
      const fits = drawing.width + 2 * MARGIN <= frame.width && drawing.height + 2 * MARGIN <= frame.height;
      if (fits) assert.deepEqual(shown, fitted(drawing, frame));
      assert.equal(fitting([drawing, SPECK], frame) === drawing, fits, 'the first that fits');
    }),
  );
});

test('WALK-6: what is under the pointer stays there when the picture gets closer or farther', () => {
  fc.assert(
    fc.property(sizes, sizes, parts, parts, fc.double({ min: 0.2, max: 5, noNaN: true }), (drawing, frame, x, y, factor) => {
      const before = fitted(drawing, frame);
      const after = zoomed(before, frame, factor, { x, y });
      isNear(before.x + before.width * x, after.x + after.width * x);
      isNear(before.y + before.height * y, after.y + after.height * y);
    }),
  );
});

test('WALK-6: some of the drawing stays in sight, however far it is moved', () => {
  fc.assert(
    fc.property(
      sizes,
      sizes,
      fc.double({ min: -50, max: 50, noNaN: true }),
      fc.double({ min: -50, max: 50, noNaN: true }),
      (drawing, frame, right, down) => {
        const { x, y, width, height } = panned(fitted(drawing, frame), drawing, right, down);
        assert.ok(x < drawing.width && x + width > 0 && y < drawing.height && y + height > 0);
      },
    ),
  );
});

test('WALK-6: a frame of another shape shows the same place at the same scale', () => {
  fc.assert(
    fc.property(sizes, sizes, sizes, (drawing, before, after) => {
      const shown = fitted(drawing, before);
      const other = reframed(shown, before, after);
      isNear(after.width / other.width, before.width / shown.width);
      isNear(other.x + other.width / 2, shown.x + shown.width / 2);
    }),
  );
});
