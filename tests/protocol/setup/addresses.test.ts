import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { templateAddress, WEB_ADDRESS } from '../../../protocol/setup/addresses.ts';

const octet = fc.constantFrom('0', '1', '10', '127', '255', '256', '01', '0x7f', '300');
const label = fc.constantFrom('a', 'example', 'x-1', '-a', 'a_b', '1', '99', '0x1', 'xn--a', 'XN--b', 'com', 'a b', '');
const group = fc.constantFrom('', '0', '1', 'ffff', 'FE80', '12345', 'g', '::');
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
  fc.array(octet, { minLength: 1, maxLength: 5 }).map((octets) => octets.join('.')),
  fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => `[${groups.join(':')}]`),
  fc.constantFrom('localhost', 'user@a.com', 'u:p@a.com', '%61.com', 'a.com.', '(a).com'),
);
const port = fc.constantFrom('', '', ':', ':0', ':1', ':080', ':443', ':65535', ':65536', ':99999', ':a');
const rest = fc.constantFrom('', '/', '?a=b', '#c', '/a?b#c', '/a b', '/a\n', '\\b', '/{{param.a}}', '/{{param.a}', '/ü');
/** Mostly of parts that are in order, so that many of the addresses are. */
const often = (good: fc.Arbitrary<string>, any: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 3, arbitrary: good }, { weight: 2, arbitrary: any });
const address = fc
  .tuple(
    often(fc.constantFrom('https://', 'http://'), fc.constantFrom('HTTPS://', 'ftp://', 'javascript:', 'https:/', 'https:', '//')),
    often(fc.constantFrom('api.example.com', 'a_b.x-1.com', '127.0.0.1', '[::1]', 'localhost'), host),
    often(fc.constantFrom('', ':8080'), port),
    often(fc.constantFrom('', '/a?b=c'), rest),
  )
  .map((parts) => parts.join(''));

for (const [name, pattern] of [
  ['url_template', templateAddress(false)],
  ['url_template in development', templateAddress(true)],
] as const) {
  test(`SERVERACTION-4: ${name}: what the pattern takes is an address with the same host, without user or password`, () => {
    let taken = 0;
    fc.assert(
      fc.property(address, (text) => {
        // Whether those are names is a rule of its own.
        if (!pattern.test(text) || /xn--/i.test(text)) return;
        taken++;
        assert.ok(URL.canParse(text), text);
        const { username, password, hostname, protocol } = new URL(text);
        assert.deepEqual([username, password], ['', '']);
        assert.ok(text.toLowerCase().startsWith(`${protocol}//`), text);
        // An IPv6 address is shortened when it is read; a name and an IPv4 address are only lowered.
        if (!hostname.startsWith('[')) assert.ok(text.toLowerCase().startsWith(`${protocol}//${hostname}`), text);
      }),
      { numRuns: 20_000 },
    );
    assert.ok(taken > 300, `${taken} taken`);
  });
}

test('LINK-6: what the pattern takes has the host that it shows, if that host is a name at all', () => {
  let taken = 0;
  fc.assert(
    fc.property(address, (text) => {
      if (!WEB_ADDRESS.test(text) || /xn--/i.test(text)) return;
      taken++;
      assert.ok(URL.canParse(text), text);
      const { username, hostname, protocol } = new URL(text);
      assert.equal(username, '');
      assert.match(protocol, /^https?:$/);
      if (!hostname.startsWith('[')) assert.ok(text.toLowerCase().startsWith(`${protocol}//${hostname}`), text);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(taken > 1_000, `${taken} taken`);
});

test('LINK-6: addresses people use, and ones that hide where they lead', () => {
  for (const text of [
    'https://example.com',
    'HTTP://Example.com:8080/a?b=c#d',
    'https://münchen.example/straße',
    'http://93.184.216.34/',
    'http://[2001:db8::1]/',
  ]) {
    assert.match(text, WEB_ADDRESS);
  }
  const hidden = [
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f000001/',
    'http://127.1/',
    'http://１２７.0.0.1/',
    'http://u@example.com/',
    'http://[::ffff:127.0.0.1]/',
  ];
  for (const text of [...hidden, 'https:example.com', 'https:///example.com', 'https://example.com\\@evil.example']) {
    assert.doesNotMatch(text, WEB_ADDRESS);
  }
});

test('SERVERACTION-4, LINK-6: the pattern of literal IPv6 addresses agrees with the platform on those without an IPv4 tail', () => {
  const piece = fc.constantFrom('0', '1', 'ab', 'ffff');
  const side = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(':'));
  const ipv6 = fc.oneof(
    side,
    fc.tuple(side, side).map(([before, after]) => `${before}::${after}`),
  );
  fc.assert(
    fc.property(ipv6, (text) => assert.equal(WEB_ADDRESS.test(`http://[${text}]/`), isIPv6(text), text)),
    { numRuns: 3_000 },
  );
});
