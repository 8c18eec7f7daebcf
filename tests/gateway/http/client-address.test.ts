/** Who a request comes from, directly and behind proxies, and what limits know it by. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { addressKey, clientBehind, type ProxyTrust, proxyTrust } from '../../../gateway/http/client-address.ts';
import { defineRoute, json } from '../../../gateway/route.ts';
import { serve } from '../test-server.ts';

const PROXY = '10.0.0.1';
const CLIENT = '203.0.113.7';
const trust = (text: string): ProxyTrust => v.parse(proxyTrust, text);
const behind = (said: string, trusted: string, peer = PROXY) => clientBehind(peer, said === '' ? [] : [said], trust(trusted));

test('LIMIT-6: limits know IPv4 by its address, IPv6 by its network of 64 bits, IPv4 in IPv6 spelling as IPv4', () => {
  for (const [text, key] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['0000:0000:0000:0000:0000:ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::6', '2001:db8:1:3::/64'],
    ['::1', '::/64'],
    ['', ''],
    ['unknown', 'unknown'],
    ['0x7f.1', '0x7f.1'],
  ] as const) {
    assert.equal(addressKey(text), key, text);
  }
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV4(), (six, four) => {
      assert.match(addressKey(six), /^(?:[0-9a-f:]+::\/64|::\/64|[0-9.]+|[0-9a-f:]+\/64)$/);
      assert.equal(addressKey(`::ffff:${four}`), addressKey(four));
    }),
  );
});

test('HTTP-25: nobody is believed unless TRUST_PROXY says so, and then only who it names', () => {
  assert.equal(clientBehind(PROXY, [CLIENT], undefined), PROXY);
  assert.equal(behind(CLIENT, '10.0.0.1'), CLIENT);
  assert.equal(behind(CLIENT, '10.0.0.2'), PROXY, 'a peer that is not the proxy writes what it likes');
  assert.equal(behind(CLIENT, '10.0.0.0/8, 2001:db8::/32'), CLIENT);
  assert.equal(behind(CLIENT, '10.0.0.0/8', '::ffff:10.0.0.1'), CLIENT);
  assert.equal(behind(CLIENT, '::ffff:10.0.0.0/104', '10.0.0.1'), CLIENT);
  assert.equal(behind(CLIENT, '2001:db8::/32', '2001:db8::9'), CLIENT);
  assert.equal(behind(CLIENT, '2001:db8::/32', '2001:db9::9'), '2001:db9::9');
});

test('HTTP-25: what proxies said is read from right to left, as far as it is theirs', () => {
  assert.equal(behind('9.9.9.9, 203.0.113.7', '1'), CLIENT, 'what the client wrote before its proxy is not believed');
  assert.equal(behind('9.9.9.9, 203.0.113.7, 10.0.0.2', '2'), CLIENT);
  assert.equal(behind('9.9.9.9, 203.0.113.7, 10.0.0.2', '10.0.0.0/8'), CLIENT);
  assert.equal(behind('10.0.0.3, 10.0.0.2', '10.0.0.0/8'), '10.0.0.3', 'all of them ours: the furthest');
  assert.equal(behind('203.0.113.7', '5'), CLIENT, 'fewer than were told');
  assert.equal(behind('', '1'), PROXY);
  assert.equal(clientBehind(PROXY, ['9.9.9.9', CLIENT], trust('1')), CLIENT, 'a line of the proxy’s own behind the client’s');
});

test('HTTP-25: what is no address ends the way back, so that whoever writes it is counted as the proxy', () => {
  for (const junk of ['unknown', '_hidden', '0x7f.1', '1.2.3.4.5', '999.1.1.1', 'fe80::1%eth0', '', ' ', '1.2.3.4 5.6.7.8', '[1.2.3.4'])
    assert.equal(behind(`${CLIENT}, ${junk}`, '3'), PROXY, junk);
  assert.equal(behind('203.0.113.7:4711', '1'), CLIENT);
  assert.equal(behind('[2001:db8::7]:4711', '1'), '2001:db8::7');
  assert.equal(behind('[2001:db8::7]', '1'), '2001:db8::7');
  assert.equal(behind('2001:DB8::7', '1'), '2001:db8::7');
});

test('HTTP-25: the header Forwarded (RFC 7239) is read where the proxies write that one', () => {
  assert.equal(behind('for=203.0.113.7', 'forwarded,1'), CLIENT);
  assert.equal(behind('for=9.9.9.9, By=10.0.0.1;FOR="203.0.113.7:4711";proto=https', 'forwarded, 10.0.0.1'), CLIENT);
  assert.equal(behind('for="[2001:db8::7]:4711"', 'forwarded,1'), '2001:db8::7');
  assert.equal(behind('for="9.9.9.9, for=203.0.113.7', 'forwarded,1'), CLIENT, 'an open quote of the client swallows nothing');
  assert.equal(behind('for=unknown', 'forwarded,1'), PROXY);
  assert.equal(behind('proto=https', 'forwarded,1'), PROXY);
  assert.equal(behind('proto = https; for = "203.0.113.7"', 'forwarded,1'), CLIENT, 'with spaces');
  for (const node of ['x[2001:db8::7]', '[2001:db8::7]x', 'x203.0.113.7:80', '203.0.113.7:80x', '[2001:db8::7]:123456'])
    assert.equal(behind(`for="${node}"`, 'forwarded,1'), PROXY, node);
});

test('HTTP-25: whatever a client writes before it, the address that its proxy wrote is the one', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 8 }), fc.ipV4(), (lines, client) => {
      assert.equal(clientBehind(PROXY, [...lines, client], trust('1')), client);
      assert.equal(clientBehind(PROXY, [`${lines.join(',')},${client}`], trust('1')), client);
      assert.equal(clientBehind(PROXY, [...lines, `for=${client}`], trust('forwarded,1')), client);
    }),
  );
});

const whoRoute = defineRoute({
  method: 'GET',
  path: '/v1/who',
  caller: 'anyone',
  handle: ({ clientAddress, address }) => json({ clientAddress, address }),
});

/** What the server says of a request with these header lines, a name perhaps more than once. */
async function who(port: number, ...lines: string[]): Promise<unknown> {
  const socket = connect(port, '127.0.0.1');
  socket.end(['GET /v1/who HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n'));
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes('}')) break;
  }
  return JSON.parse(answer.slice(answer.indexOf('{')));
}

test('HTTP-25: a forged line before the proxy’s own is not believed on the wire either', async (t) => {
  const config = { publicUrl: undefined, operatorToken: undefined, allowPrivateAddresses: false };
  const open = await serve(t, [whoRoute], { config });
  assert.deepEqual(await who(open.port, 'X-Forwarded-For: 9.9.9.9'), { clientAddress: '127.0.0.1', address: '127.0.0.1' });
  const behindOne = await serve(t, [whoRoute], { config: { ...config, trustProxy: trust('127.0.0.1') } });
  const forged = ['X-Forwarded-For: 9.9.9.9', 'Forwarded: for=8.8.8.8', 'X-Forwarded-For: 2001:db8:0:7::9'];
  assert.deepEqual(await who(behindOne.port, ...forged), { clientAddress: '2001:db8:0:7::9', address: '2001:db8:0:7::/64' });
});

test('HTTP-25: requests that come by a proxy nobody was told of are warned of, once', async (t) => {
  const route = defineRoute({ method: 'GET', path: '/v1/x', caller: 'anyone', handle: () => json({}) });
  const { base, logged } = await serve(t, [route]);
  await fetch(`${base}/v1/x`);
  assert.equal(logged.length, 0);
  for (let n = 0; n < 3; n++) await fetch(`${base}/v1/x`, { headers: { 'X-Forwarded-For': CLIENT } });
  assert.deepEqual(
    logged.map(({ header, msg }) => [header, String(msg).includes('TRUST_PROXY')]),
    [['x-forwarded-for', true]],
  );
});

test('HTTP-25: a network of proxies with a zone is none: a zone names an interface, not a network', () => {
  for (const text of ['::%identity-.addr', 'fe80::1%eth0/64']) assert.equal(v.safeParse(proxyTrust, text).success, false, text);
});
