import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOrigin, isOriginAllowed, isOwnPage } from '../../../gateway/http/cors.ts';
import { Refusal } from '../../../protocol/errors.ts';

const domains = ['shop.example', '*.wild.example', 'dev.example:8443', 'Bücher.example', '[2001:db8::1]'];

for (const origin of [
  'https://shop.example',
  'http://shop.example:3000',
  'https://a.wild.example',
  'https://a.b.wild.example',
  'https://dev.example:8443',
  'https://xn--bcher-kva.example',
  'https://[2001:db8::1]:9000',
]) {
  test(`HTTP-22: allowed domains admit ${origin}`, () => assert.equal(isOriginAllowed(origin, domains, 'live'), true));
}

for (const origin of [
  'https://evil.example',
  'https://notshop.example',
  'https://shop.example.evil.example',
  'https://www.shop.example',
  'https://wild.example',
  'https://evilwild.example',
  'https://dev.example',
  'null',
  'file://shop.example',
  'chrome-extension://shop.example',
  'http://localhost:3000',
  'garbage',
]) {
  test(`HTTP-22: allowed domains keep out ${origin}`, () => assert.equal(isOriginAllowed(origin, domains, 'live'), false));
}

test('HTTP-22: sandboxed frames, whose origin is null, are admitted where null is among the domains', () => {
  assert.equal(isOriginAllowed('null', ['shop.example', 'null'], 'live'), true);
  assert.equal(isOriginAllowed('null', [], 'sandbox'), false);
});

test('HTTP-23: a test key also answers on localhost, on any port', () => {
  for (const origin of ['http://localhost', 'http://localhost:3000', 'https://127.0.0.1:8443', 'http://[::1]:5173']) {
    assert.equal(isOriginAllowed(origin, [], 'sandbox'), true, origin);
    assert.equal(isOriginAllowed(origin, [], 'live'), false, origin);
  }
  assert.equal(isOriginAllowed('http://localhost.evil.example', [], 'sandbox'), false);
});

test('HTTP-22: origin_not_allowed names the origin and the setting; no Origin header is no browser', () => {
  assert.doesNotThrow(() => checkOrigin('', [], 'live'));
  assert.throws(
    () => checkOrigin('https://evil.example', domains, 'live'),
    (error: unknown) =>
      error instanceof Refusal &&
      error.code === 'origin_not_allowed' &&
      error.status === 403 &&
      error.message.includes('https://evil.example') &&
      error.message.includes('Allowed domains'),
  );
  assert.throws(() => checkOrigin('null', ['shop.example'], 'sandbox'), /A page from a file, or in a sandboxed frame.*Open it over http/);
});

test('DEMO-5: a page is the service’s own by the host that was asked or the public address, whatever it claims besides', () => {
  assert.ok(isOwnPage('http://127.0.0.1:8787', '127.0.0.1:8787', undefined));
  assert.ok(isOwnPage('https://assistant.example', 'inner:8787', 'https://assistant.example'));
  for (const origin of [
    '',
    'null',
    'https://evil.example',
    'http://127.0.0.1:8788',
    'https://assistant.example.evil.example',
    'file://assistant.example',
  ]) {
    for (const known of ['https://assistant.example', 'no address', undefined]) {
      assert.equal(isOwnPage(origin, '127.0.0.1:8787', known), false, `${origin} ${known}`);
    }
  }
});
