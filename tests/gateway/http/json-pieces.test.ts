/** Answers that are rendered piece by piece are what they would be in one go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RenderedItems, renderInPieces } from '../../../gateway/http/json-pieces.ts';

test('HTTP-9: JSON rendered in pieces is the text that it has in one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.nat(5), async (value, depth) => {
      assert.equal((await renderInPieces(value, depth)).toString(), JSON.stringify(value));
    }),
  );
});

test('HTTP-9: a member that is undefined is left out, in a list it is null', async () => {
  const value = { a: undefined, b: [undefined, 1], c: { d: undefined } };
  assert.equal((await renderInPieces(value, 3)).toString(), '{"b":[null,1],"c":{}}');
});

test('HTTP-9: pages of a list that were rendered before keep their order and their bytes', async () => {
  const items = new RenderedItems();
  assert.equal((await renderInPieces({ items }, 2)).toString(), '{"items":[]}');
  items.add([3, 'ü']);
  items.add([]);
  items.add([4]);
  items.add([1, 2], 'first');
  assert.equal(items.bytes, Buffer.byteLength('3,"ü"41,2'));
  assert.equal((await renderInPieces({ items }, 2)).toString(), '{"items":[1,2,3,"ü",4]}');
});

test('HTTP-9: others are let in while a large answer is rendered', async () => {
  const text = 'x'.repeat(300 * 1024);
  let others = 0;
  const rendering = renderInPieces(
    Array.from({ length: 10 }, () => text),
    1,
  );
  const count = (): void => {
    others += 1;
    if (others < 100) setImmediate(count);
  };
  setImmediate(count);
  await rendering;
  assert.ok(others >= 9 && others < 100, `others ran ${others} times`);
});
