/** When a link has to say where it leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHttpsUrl } from '../../../../protocol/catalog/text-checks.ts';
import { unsaidHost } from '../../../../web/sdk/blocks/parts/unsaid-host.ts';

for (const [address, words, host] of [
  ['https://evil.example/x', 'your bank', 'evil.example'],
  ['https://evil.example/x', 'https://bank.example/x', 'evil.example'],
  ['https://evil.example/x', 'bank.example', 'evil.example'],
  ['https://evil.example/x', 'evil.example is safe', 'evil.example'],
  ['https://evil.example/x', 'https://bank.example@evil.example', 'evil.example'],
  ['https://evil.example:8443/x', 'evil.example', 'evil.example:8443'],
  ['https://аpple.example/', 'аpple.example', 'xn--pple-43d.example'],
  ['HTTPS://EVIL.example', '', 'evil.example'],
  ['https://bank.example.evil.example/', 'bank.example', 'bank.example.evil.example'],
  ['https://shop.example/returns', 'https://shop.example/returns', undefined],
  ['https://shop.example/returns', ' Shop.example/other ', undefined],
  ['https://shop.example/returns', 'shop.example', undefined],
  ['tel:+4930901820', 'Call us', undefined],
  ['mailto:a@shop.example', 'Write to us', undefined],
] as const) {
  test(`BLOCKVIEW-14: “${words}” that leads to ${address} ${host === undefined ? 'says so itself' : `shows ${host}`}`, () =>
    assert.equal(unsaidHost(address, words), host));
}

test('BLOCKVIEW-14, BLOCK-7: an address with a name before its host is none', () => {
  for (const address of ['https://bank.example@evil.example/', 'https://a:b@evil.example/'])
    assert.equal(isHttpsUrl(address), false, address);
});
