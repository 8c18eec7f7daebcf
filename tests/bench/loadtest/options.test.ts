import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readPlan } from '../../../bench/loadtest/options.ts';
import { loadTexts, sortTexts } from '../../../bench/loadtest/texts.ts';
import { CannotRun } from '../../../bench/loadtest/usage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

const WHERE = ['--url', 'http://127.0.0.1:8787', '--key', 'rd_pk_test_abcdefgh'];

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof CannotRun, String(error));
    return error.message;
  }
  throw new Error('it was taken');
};

describe('LOAD-1: the command line', () => {
  test('a plan with everything left out is one visit a second for 30 s', () => {
    const plan = readPlan(WHERE);
    assert.deepEqual(plan?.load, { model: 'open', rate: 1, arrivals: 'even' });
    assert.equal(plan?.durationMs, 30_000);
    assert.deepEqual(
      [...(plan?.mix ?? [])],
      [
        ['new', 70],
        ['continue', 30],
      ],
    );
    assert.equal(plan?.goodput, 0.99);
  });

  test('a plan with everything', () => {
    const plan = readPlan([
      ...[
        '--url',
        'https://assistant.example.com/v1/chat',
        '--key',
        'rd_pk_test_one,rd_pk_test_two',
        '--key',
        'rd_pk_test_three',
        '--live',
      ],
      ...['--clients', '50', '--think', '250ms', '--ramp', '1m', '--duration', '0.5h', '--drain', '5', '--max-open', '100'],
      ...['--mix', 'read=1, confirm=2,history=0', '--slo', 'first_delta=500,turn=5000ms', '--goodput', '97.5', '--pause', '2s'],
    ]);
    assert.equal(plan?.url.href, 'https://assistant.example.com/');
    assert.deepEqual(plan?.keys, ['rd_pk_test_one', 'rd_pk_test_two', 'rd_pk_test_three']);
    assert.deepEqual(plan?.load, { model: 'closed', clients: 50, thinkMs: 250 });
    assert.deepEqual([plan?.rampMs, plan?.durationMs, plan?.drainMs, plan?.pauseMs], [60_000, 1_800_000, 5_000, 2_000]);
    assert.deepEqual(
      [...(plan?.mix ?? [])],
      [
        ['read', 1],
        ['confirm', 2],
      ],
    );
    assert.deepEqual(
      [...(plan?.slo ?? [])],
      [
        ['first_delta', 500],
        ['turn', 5_000],
      ],
    );
    assert.equal(plan?.goodput, 0.975);
  });

  test('a service below a path keeps it', () => {
    assert.equal(readPlan(['--url', 'https://example.com/assistant/', '--key', 'k'])?.url.href, 'https://example.com/assistant');
  });

  const WRONG: readonly (readonly [readonly string[], RegExp])[] = [
    [['--rte', '3'], /'--rte'/],
    [['somewhere'], /'somewhere'/],
    [['--rate'], /'--rate.*needs a value/],
    [['--rate', '-3'], /--rate/],
    [['--rate', '0'], /--rate takes a number from 0\.001/],
    [['--rate', '5/s'], /"5\/s"/],
    [['--clients', '1.5'], /whole number/],
    [['--clients', '5', '--rate', '5'], /--rate and --clients/],
    [['--clients', '5', '--arrivals', 'poisson'], /--arrivals goes with --rate/],
    [['--think', '5'], /--think goes with --clients/],
    [['--arrivals', 'odd'], /even or poisson/],
    [['--duration', 'soon'], /a time such as/],
    [['--duration', '0'], /at least 100 ms/],
    [['--duration', '99h'], /a time such as/],
    [['--goodput', '101'], /from 0 to 100/],
    [['--mix', 'old=3'], /"old"/],
    [['--mix', 'new=x'], /weights such as new=10/],
    [['--mix', 'new=1,new=2'], /twice/],
    [['--mix', 'new=0'], /nothing to do/],
    [['--slo', 'p99=3'], /"p99"/],
    [['--slo', 'turn'], /milliseconds such as turn=500/],
    [['--url', 'ftp://x'], /http:\/\/ or https:\/\//],
    [['--key', 'a b'], /publishable key/],
  ];
  for (const [args, words] of WRONG) {
    test(`${args.join(' ')} is refused in one line`, () => {
      const message = refusal(() => readPlan([...WHERE, ...args]));
      assert.match(message, words);
      assert.ok(!message.includes('\n'), message);
    });
  }

  test('where the service is and with which key has to be said', () => {
    assert.match(
      refusal(() => readPlan([])),
      /--url is missing/,
    );
    assert.match(
      refusal(() => readPlan(['--url', 'http://x'])),
      /--key is missing/,
    );
  });

  test('texts of a file come in turns, those of a kind to visits of that kind', (t) => {
    const file = join(temporaryDir(t), 'texts.txt');
    writeFileSync(file, '\ufeff# questions\r\nOne?\r\n\r\nTwo?\r\nread: Where is it?\n');
    const texts = loadTexts(file);
    assert.deepEqual([texts.pick('new'), texts.pick('new'), texts.pick('new')], ['One?', 'Two?', 'One?']);
    assert.deepEqual([texts.pick('read'), texts.pick('read')], ['Where is it?', 'Where is it?']);
    assert.match(
      refusal(() => loadTexts(`${file}.gone`)),
      /cannot be read \(ENOENT\)/,
    );
    assert.match(
      refusal(() => sortTexts('# nothing\n\n', 'x')),
      /holds no message/,
    );
    assert.match(
      refusal(() => sortTexts(`ok\n${'x'.repeat(4_001)}`, 'x')),
      /line 2 has more than 4000 characters/,
    );
  });
});
