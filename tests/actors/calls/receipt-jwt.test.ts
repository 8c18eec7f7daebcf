import assert from 'node:assert/strict';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { signReceipt } from '../../../actors/calls/receipt.ts';

const SECRET = 'c0ffee'.repeat(10);
const CONFIRMED = Date.parse('2026-11-21T10:00:00.250Z');
const INPUT = {
  secret: SECRET,
  invocationId: 'inv_000000000000000000000001',
  action: 'cancel_order',
  params: { order_id: 'A-1', notify: true },
  externalUserId: 'user 7',
  personVerified: true,
  recorded: true,
  confirmedAtMs: CONFIRMED,
};

/** As a customer's backend would, with nothing of ours: the claims of a receipt that holds, else undefined. */
function verified(receipt: string, secret: string): Record<string, unknown> | undefined {
  const [header = '', payload = '', signature = '', ...more] = receipt.split('.');
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const { alg, typ } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
  return alg === 'HS256' && typ === 'JWT'
    ? (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>)
    : undefined;
}

test('CONFIRM-19: a receipt is a JWT over invocation, action, parameters, person and time', () => {
  const canonical = '{"notify":true,"order_id":"A-1"}';
  assert.deepEqual(verified(signReceipt(INPUT), SECRET), {
    jti: INPUT.invocationId,
    sub: 'user 7',
    sub_verified: true,
    action: 'cancel_order',
    params_sha256: createHash('sha256').update(canonical).digest('hex'),
    recorded: true,
    confirmed_at: '2026-11-21T10:00:00.250Z',
    iat: Math.floor(CONFIRMED / 1_000),
  });
  assert.match(signReceipt(INPUT), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});

test('CONFIRM-22: a person whom the app did not name is not in the receipt', () => {
  assert.equal(Object.hasOwn(verified(signReceipt({ ...INPUT, externalUserId: null }), SECRET) ?? {}, 'sub'), false);
});

test('CONFIRM-20: a receipt holds under the secret it was signed with, whole and as it is', () => {
  const receipt = signReceipt(INPUT);
  const other = signReceipt({ ...INPUT, params: { order_id: 'A-2', notify: true } });
  assert.equal(verified(receipt, `${SECRET}x`), undefined);
  const [header, , signature] = receipt.split('.');
  assert.equal(verified(`${header}.${other.split('.')[1]}.${signature}`, SECRET), undefined);
  assert.equal(signReceipt(INPUT), receipt, 'the same confirmation has one receipt');
});

test('CONFIRM-19: the hash is of the canonical JSON of what is sent, in whatever order it was written', () => {
  const hashOf = (params: Record<string, unknown>) => verified(signReceipt({ ...INPUT, params }), SECRET)?.params_sha256;
  const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
  assert.equal(hashOf({}), sha256('{}'));
  assert.equal(hashOf({ b: [1, 'é', 1e21], a: -0, left_out: null }), sha256('{"a":0,"b":[1,"é",1e+21]}'));
  assert.equal(hashOf({ a: 'x\ud800' }), sha256('{"a":"x\ufffd"}'), 'half a character is sent as U+FFFD');
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())),
      (params) => {
        assert.equal(hashOf(Object.fromEntries(Object.entries(params).reverse())), hashOf(params));
      },
    ),
  );
});

test('CONFIRM-20: a receipt is no signature of any external user id, whose length ends before', () => {
  const shortest = signReceipt({ ...INPUT, invocationId: '', action: '', params: {}, externalUserId: null, confirmedAtMs: 0 });
  assert.ok(shortest.slice(0, shortest.lastIndexOf('.')).length > 128);
});
