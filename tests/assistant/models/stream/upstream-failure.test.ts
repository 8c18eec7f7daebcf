/** What of an upstream's own words reaches the log: its sentence, never a key, never what people wrote. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerFailure, retryAfterOf, streamedFailure } from '../../../../assistant/models/stream/upstream-failure.ts';

const KEY = 'a-key-of-its-own-kind';
const said = (body: unknown, status = 400, contentType = 'application/json') =>
  answerFailure({ status, contentType, body: typeof body === 'string' ? body : JSON.stringify(body) }, KEY).detail;

describe('PRIVACY-15: upstream sentences', () => {
  test('are kept wherever servers put them', () => {
    assert.equal(said({ error: { message: 'No such model.', code: 'gone' } }, 404), 'status 404 gone: No such model.');
    assert.equal(said({ error: 'model not found' }, 404), 'status 404: model not found');
    assert.equal(said({ object: 'error', message: 'Too long.', type: 'BadRequestError' }), 'status 400 BadRequestError: Too long.');
    assert.equal(said({ detail: 'Not Found' }, 404), 'status 404: Not Found');
    assert.equal(said('404 page not found\n', 404, 'text/plain'), 'status 404: 404 page not found');
    assert.equal(said('<html>404</html>', 404, 'text/html'), 'status 404');
  });

  test('lose keys, whole or masked, ours or another’s', () => {
    const keys = [
      KEY,
      'sk-proj-abcdefgh12345678',
      'sk-pr***********************wxyz',
      'gsk_0123456789',
      'AIzaSyA-0123456789',
      'Bearer eyJhbGciOi.x.y',
      '0123456789abcdef'.repeat(4),
    ];
    for (const key of keys) {
      const detail = said({ error: { message: `The key ${key} is wrong`, code: key } }, 401);
      assert.equal(detail, 'status 401 [key]: The key [key] is wrong', key);
    }
    assert.equal(said({ error: { message: 'Use model "meta-llama/Llama-3.1-405B-Instruct-Turbo".' } }).includes('[key]'), false);
  });

  test('lose a key that is cut off, and one that is percent-encoded', () => {
    const quote = `"${'w'.repeat(1_985)}" `;
    assert.equal(said({ error: { message: `${quote}sk-secret-of-some-length` } }), 'status 400: [...]');
    assert.equal(said({ error: { message: `${quote}${KEY} is wrong` } }), 'status 400: [...]');
    const encoded = Array.from(KEY, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    for (const form of [KEY.replaceAll('-', '%2D'), KEY.replaceAll('-', '%2d'), encoded]) {
      assert.equal(said({ error: `GET /v1?key=${form} failed` }), 'status 400: GET /v1?key=[key] failed', form);
    }
  });

  test('lose long quotations, which may be what people wrote, and stay on one short line', () => {
    const words = 'my secret is that I like plums '.repeat(5);
    for (const quote of [`"${words}"`, `'${words}'`, `“${words}”`, `"${words}`]) {
      assert.doesNotMatch(said({ error: { message: `Invalid content ${quote}` } }), /plums/);
    }
    const long = said({ error: { message: 'line\nbreak '.repeat(500) } });
    assert.ok(long.length <= 400 && !long.includes('\n'));
  });

  test('MODEL-16: an account that is used up is no passing overload, whatever its status', () => {
    const kind = (status: number, error: object) =>
      answerFailure({ status, contentType: 'application/json', body: JSON.stringify({ error }) }, KEY).kind;
    const words = [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'insufficient_user_quota',
      'Insufficient Balance',
      'payment_required',
    ];
    for (const code of words) assert.deepEqual([kind(429, { code }), kind(400, { type: code })], ['exhausted', 'exhausted'], code);
    const unpaid = { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' };
    assert.equal(kind(400, unpaid), 'exhausted');
    assert.equal(kind(400, { ...unpaid, message: 'messages: "Your credit balance is too low" is no role' }), 'refused');
    for (const code of ['rate_limit_exceeded', 'tokens_per_minute_quota', 'RESOURCE_EXHAUSTED'])
      assert.equal(kind(429, { code }), 'busy', code);
    assert.equal(streamedFailure({ code: 'insufficient_quota' }, true, KEY).kind, 'exhausted');
  });

  test('MODEL-16: Retry-After is a number or a date, an hour at most', () => {
    const nowMs = Date.parse('2026-11-22T10:00:00Z');
    const read = (header: unknown) => retryAfterOf(header, nowMs);
    assert.deepEqual(['5', '0', '1.2', 'Sun, 22 Nov 2026 10:00:30 GMT', 'Sun, 22 Nov 2026 09:00:00 GMT'].map(read), [5, 1, 2, 30, 1]);
    assert.deepEqual(['', 'soon', '-1', '3601', undefined, ['5']].map(read), Array(6).fill(undefined));
  });
});
