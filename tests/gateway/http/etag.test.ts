import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { etagOf, noneMatch } from '../../../gateway/http/etag.ts';

test('CONFIG-2: If-None-Match matches alone, in a list, weakly and as a star', () => {
  const etag = etagOf('content');
  for (const header of [etag, `W/${etag}`, `"other", ${etag}`, `"a,b" , W/${etag},"c"`, '*', ' * ']) {
    assert.equal(noneMatch(header, etag), true, header);
  }
  for (const header of ['', '"other"', etag.slice(1, -1), `"x${etag.slice(1)}`, 'W/"other", "*"', `"${etag.slice(1, -1)}`]) {
    assert.equal(noneMatch(header, etag), false, header);
  }
});

test('CONFIG-2: a tag is a quoted string that depends on the content only', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      assert.match(etagOf(a), /^"[A-Za-z0-9_-]{22}"$/);
      assert.equal(etagOf(a) === etagOf(b), a === b);
      assert.equal(noneMatch(`"q", W/${etagOf(a)}`, etagOf(b)), a === b);
    }),
  );
});
