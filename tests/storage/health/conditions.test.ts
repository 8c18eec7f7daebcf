import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintId } from '../../../protocol/ids.ts';
import { Conditions } from '../../../storage/health/conditions.ts';

test('RUN-35: five failures in a row begin a condition, each of its own subject, and a success ends it and counts anew', () => {
  let nowMs = 1_000;
  const logged: unknown[] = [];
  const say = (facts: object) => logged.push(facts);
  const log = { error: say, warn: say, info: say };
  const conditions = new Conditions(log, () => nowMs);
  const fail = (subject: string, times: number) => {
    for (let n = 1; n <= times; n += 1) conditions.tried('mail_failing', subject, `failure ${n}`);
  };
  fail('one', 4);
  fail('other', 4);
  conditions.tried('mail_failing', 'one', undefined);
  fail('one', 4);
  assert.deepEqual(conditions.list(), []);
  nowMs = 2_000;
  fail('other', 1);
  nowMs = 3_000;
  fail('other', 2);
  assert.deepEqual(conditions.list(), [{ name: 'mail_failing', subject: 'other', detail: 'failure 2', sinceMs: 1_000 }]);
  conditions.tried('mail_failing', 'other', undefined);
  assert.deepEqual(conditions.list(), []);
  assert.deepEqual(logged, [
    { condition: 'mail_failing', subject: 'other' },
    { condition: 'mail_failing', subject: 'other', held_for_ms: 2_000 },
  ]);
});

test('RUN-35: what fails of one app wakes no operator: it is a warning', () => {
  const levels: string[] = [];
  const log = { error: () => levels.push('error'), warn: () => levels.push('warn'), info: () => {} };
  const conditions = new Conditions(log, Date.now);
  conditions.open('knowledge_failing', 'unreadable', mintId('app', 0));
  conditions.open('knowledge_failing', 'the embeddings server does not answer');
  conditions.open('organisation_unavailable', 'its file is missing', mintId('org', 0));
  assert.deepEqual(levels, ['warn', 'error', 'error']);
});

test('RUN-35: whoever counts attempts and cannot keeps nothing from ending', () => {
  const silent = { error: () => {}, warn: () => {}, info: () => {} };
  const conditions = new Conditions(silent, Date.now);
  conditions.watch(() => {
    throw new Error('disk I/O error');
  });
  for (let n = 0; n < 5; n += 1) conditions.tried('backend_failing', 'one', 'it answers 500');
  assert.equal(conditions.holds('backend_failing', 'one'), true);
});
