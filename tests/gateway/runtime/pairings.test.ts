import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { PAIRING_ALPHABET, pairingCodeOf } from '../../../protocol/runtime/pairings.ts';
import { FILE } from '../../support/whole-file.ts';
import { type AnsweredApp, assertRefused, DEVICE, OTHER_DEVICE, START, serveAnsweredApp } from '../answered-app.ts';

const QUARTER_MS = 15 * 60_000;
const TWO_HOURS_MS = 2 * 3_600_000;

let devices = 0;
const shared = await serveAnsweredApp(FILE);

test.beforeEach(() => {
  // Its own minute, so that no test uses up another one's.
  shared.clock.nowMs += 60_000;
});

async function openPairing(app: AnsweredApp = shared): Promise<{ pairing_id: string; code: string; expires_at: string }> {
  const answer = await app.console('POST', `/apps/${app.appId}/pairings`);
  assert.equal(answer.status, 201, answer.text);
  return answer.json as { pairing_id: string; code: string; expires_at: string };
}

/** Each call from a device of its own. */
function claim(body: unknown, headers: Record<string, string> = {}) {
  devices += 1;
  return shared.sdk('POST', '/v1/pairings/claim', body, { 'X-Service-Device': devices.toString(16).padStart(32, '0'), ...headers });
}

test('PAIRING-6: POST /v1/pairings/claim: { pairing_id, expires_at }, two hours from now', async () => {
  const { pairing_id, code } = await openPairing();
  const answer = await claim({ code }, { 'X-Service-Device': DEVICE });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, { pairing_id, expires_at: new Date(shared.clock.nowMs + TWO_HOURS_MS).toISOString() });
});

test('PAIRING-2: of a code only the SHA-256 is stored', async () => {
  const { pairing_id, code } = await openPairing();
  const row = shared.rows((db) => db.statement('SELECT * FROM pairings WHERE id = :id').get({ id: pairing_id }));
  assert.equal(row?.code_hash, createHash('sha256').update(code).digest('hex'));
  assert.ok(!JSON.stringify(row).includes(code));
});

test('PAIRING-3: a code may be typed in small letters, with spaces and hyphens', async () => {
  const { pairing_id, code } = await openPairing();
  const typed = ` ${code.slice(0, 4).toLowerCase()}-${code.slice(4, 6)} ${code.slice(6).toLowerCase()} `;
  const answer = await claim({ code: typed });
  assert.deepEqual([answer.status, answer.json.pairing_id], [200, pairing_id], answer.text);
});

test('PAIRING-1: a code is eight characters that nobody takes for one another, however it is typed', () => {
  const codes = fc.array(fc.constantFrom(...PAIRING_ALPHABET), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(
      codes,
      fc.array(fc.constantFrom('', ' ', '-', '–'), { minLength: 8, maxLength: 8 }),
      fc.boolean(),
      (letters, gaps, small) => {
        const typed = letters.map((letter, at) => (gaps[at] ?? '') + (small ? letter.toLowerCase() : letter)).join('');
        assert.equal(pairingCodeOf(typed), letters.join(''));
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (text) => /^[2-9A-HJKMNP-TV-Z]{8}$/.test(pairingCodeOf(text) ?? '22222222')));
  for (const wrong of ['', '2222222', '222222222', '2222222O', '22222221']) assert.equal(pairingCodeOf(wrong), undefined, wrong);
});

test('PAIRING-4: wrong, used, expired and foreign codes are one 404 pairing_not_found', async () => {
  const wrong = await claim({ code: '22222222' });
  assertRefused(wrong, 404, 'pairing_not_found', /15 minutes/);
  const used = await openPairing();
  assert.equal((await claim({ code: used.code }, { 'X-Service-Device': DEVICE })).status, 200);
  const early = await openPairing();
  const late = await openPairing();
  const other = await shared.otherApp();
  const refused = [
    await claim({ code: used.code }, { 'X-Service-Device': DEVICE }),
    await claim({ code: used.code }, { 'X-Service-Device': OTHER_DEVICE }),
    await claim({ code: early.code }, { 'X-Service-Key': other.test }),
    await claim({ code: '' }),
    await claim({ code: 'not a code at all' }),
  ];
  shared.clock.nowMs = Date.parse(late.expires_at) - 1;
  assert.equal((await claim({ code: early.code })).status, 200);
  shared.clock.nowMs += 1;
  refused.push(await claim({ code: late.code }));
  for (const answer of refused) assert.deepEqual([answer.status, answer.text], [404, wrong.text]);
});

test('PAIRING-4: of devices that race for one code exactly one gets it', async () => {
  const { code } = await openPairing();
  const answers = await Promise.all([...Array(16)].map(() => claim({ code })));
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(15).fill(404)]);
});

test('PAIRING-6: a live key is 403 pairing_test_only', async () => {
  const { code } = await openPairing();
  assertRefused(await claim({ code }, { 'X-Service-Key': shared.live }), 403, 'pairing_test_only', /test key/);
  assert.equal((await claim({ code })).status, 200, 'and it did not use the code up');
});

test('PAIRING-6: the device header is required; a malformed body is 400', async () => {
  const { code } = await openPairing();
  assertRefused(await claim({ code }, { 'X-Service-Device': '' }), 400, 'invalid_request', /^X-Service-Device is required/);
  assertRefused(await claim({}), 400, 'invalid_request', /code/);
  assertRefused(await claim({ code: 12345678 }), 400, 'invalid_request', /code/);
  assertRefused(await claim({ code: 'x'.repeat(33) }), 400, 'invalid_request', /code/);
});

test('KEY-4: a suspended app reports quota_exceeded to a pairing', async () => {
  const { code } = await openPairing();
  await shared.patch({ suspended: true });
  assertRefused(await claim({ code }), 403, 'quota_exceeded', /suspended/);
  await shared.patch({ suspended: false });
  assert.equal((await claim({ code })).status, 200);
});

test('LIMIT-4: a device sends 5 claims a minute, an app 30', async () => {
  const same = { 'X-Service-Device': 'c'.repeat(32) };
  for (let n = 0; n < 5; n++) assert.equal((await claim({ code: '22222222' }, same)).status, 404);
  assertRefused(await claim({ code: '22222222' }, same), 429, 'rate_limited', /this device/);
  for (let n = 5; n < 30; n++) assert.equal((await claim({ code: '22222222' })).status, 404, `${n}`);
  const over = await claim({ code: '22222222' });
  assertRefused(over, 429, 'rate_limited', /this app/);
  assert.equal(over.headers.get('retry-after'), '2');
});

test('PAIRING-5: ten codes of an app wait; one more takes the place of the oldest', async (t) => {
  const app = await serveAnsweredApp(t);
  const opened: { pairing_id: string; code: string }[] = [];
  for (let n = 0; n < 11; n++) {
    app.clock.nowMs = START + n;
    opened.push(await openPairing(app));
  }
  const state = async (n: number) => {
    const { json } = await app.console('GET', `/pairings/${opened[n]?.pairing_id}`);
    return (json.pairing as { state: string }).state;
  };
  assert.deepEqual([await state(0), await state(1), await state(10)], ['expired', 'open', 'open']);
  const oldest = await app.sdk('POST', '/v1/pairings/claim', { code: opened[0]?.code });
  assert.equal(oldest.code, 'pairing_not_found');
  assert.equal((await app.sdk('POST', '/v1/pairings/claim', { code: opened[1]?.code })).status, 200);
});

test('PAIRING-5: fifty builds of an app are watched, pairings long over are forgotten', async (t) => {
  const app = await serveAnsweredApp(t);
  const first = await openPairing(app);
  for (let n = 0; n < 50; n++) {
    const id = `pai_${String(n).padStart(24, '0')}`;
    app.rows((db) =>
      db
        .statement(
          `INSERT INTO pairings (id, app_id, code_hash, created_at_ms, code_expires_at_ms, claimed_at_ms, device_id, watched_until_ms)
           VALUES (:id, :appId, :id, :nowMs, :nowMs, :nowMs, 'd', :untilMs)`,
        )
        .run({ id, appId: app.appId, nowMs: START, untilMs: START + TWO_HOURS_MS }),
    );
  }
  const refused = await app.console('POST', `/apps/${app.appId}/pairings`);
  assertRefused(refused, 409, 'conflict', /50 builds/);
  app.clock.nowMs = START + TWO_HOURS_MS + QUARTER_MS;
  await openPairing(app);
  const kept = app.rows((db) => db.statement('SELECT count(*) AS n FROM pairings').get({}));
  assert.equal(kept?.n, 51, 'the new one and fifty that are over');
  assert.equal((await app.console('GET', `/pairings/${first.pairing_id}`)).status, 200);
});
