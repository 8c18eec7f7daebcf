/** Pages that lack something, or forbid it, are places to run in all the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { browser, type Page } from '../../../../web/client/platform/browser.ts';
import { everywhere, uuidOf } from '../../../../web/client/platform/everywhere.ts';

const pageWith = (more: object): Page => Object.assign(new EventTarget(), more) as unknown as Page;

test('CLIENT-4: a page of plain http, which has random bytes and no UUIDs, mints ids as well', (t) => {
  t.mock.method(crypto, 'randomUUID', () => assert.fail('a page of plain http has none'));
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (random) => {
      assert.match(uuidOf(random), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }),
  );
  const { mintUuid } = everywhere();
  assert.notEqual(mintUuid(), mintUuid());
});

test('CLIENT-21: a page that may hold no lock leads itself, once, and not after it resigned', async () => {
  const refusals: (() => void)[] = [];
  const locks = {
    request: () =>
      new Promise((_, reject) => {
        refusals.push(() => reject(new Error('A sandboxed frame has no locks.')));
      }),
  };
  const { tabs } = browser({}, pageWith({ navigator: { locks }, BroadcastChannel }));
  assert.ok(tabs);
  let resigned = 0;
  const resign = tabs.elect('tabs', () => {
    resigned += 1;
  });
  resign();
  const led = new Promise<void>((resolve) => void tabs.elect('tabs', resolve));
  for (const refuse of refusals) refuse();
  await led;
  assert.equal(resigned, 0);
});

test('CLIENT-17: an upload that was given up before it began is not sent', async () => {
  let sent = 0;
  class Exchange {
    readonly status = 0;
    readonly responseText = '';
    readonly upload = { onprogress: null };
    onload = null;
    onerror = null;
    onabort = null;
    open(): void {}
    setRequestHeader(): void {}
    getResponseHeader(): null {
      return null;
    }
    send(): void {
      sent += 1;
    }
    abort(): void {}
  }
  const { sendFile } = browser({}, pageWith({ XMLHttpRequest: Exchange }));
  const cancel = new AbortController();
  cancel.abort();
  const file = { content: new Blob(['Hello']), name: 'a.txt' };
  const request = { address: 'https://assistant.example/v1/uploads', headers: {}, file, signal: cancel.signal, onProgress: () => {} };
  await assert.rejects(sendFile(request), TypeError);
  assert.equal(sent, 0);
});
