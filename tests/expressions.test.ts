/**
 * No regular expression of the program takes a time that grows faster than its input. The automaton of each is judged by recheck; those
 * that it cannot judge, because they look around, refer back or count far, are attacked with hostile text.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attack, constructAll, judge, programExpressions } from '../tools/expressions.ts';

const ATTACK_CHARS = 32_000;
/** Linear ones take up to a fifth of it; 32,000 characters squared take twice as long on a fast machine. */
const ATTACK_MAX_MS = 400;

const { expressions, unmade } = await programExpressions(constructAll);

describe('SAFE-1: regular expressions take a time that grows with their input at most', () => {
  test('every one of the program is known: those that are constructed were', () => {
    assert.deepEqual([...unmade], []);
    assert.ok(expressions.size > 250);
  });

  test('each is linear by its automaton, or holds against hostile text', () => {
    const faults: string[] = [];
    for (const [text, expression] of expressions) {
      const verdict = judge(expression);
      if (verdict === 'linear') continue;
      if (verdict !== 'undecided') {
        faults.push(`${expression.place} ${text}: ${verdict.attack}`);
        continue;
      }
      const { ms, pump } = attack(expression, ATTACK_CHARS, ATTACK_MAX_MS);
      if (ms <= ATTACK_MAX_MS) continue;
      // On a slow machine a linear one takes that long, too, but for half of the text half as long.
      if (ms > 3 * attack(expression, ATTACK_CHARS / 2, ATTACK_MAX_MS).ms)
        faults.push(`${expression.place} ${text}: ${ms} ms, by ${JSON.stringify(pump)}`);
    }
    assert.deepEqual(faults, []);
  });

  test('the attack finds what is quadratic', () => {
    for (const source of ['(?<=a?)\\s+x', '(?<!x)#+$']) {
      const { ms } = attack({ source, flags: '', place: '' }, ATTACK_CHARS, ATTACK_MAX_MS);
      assert.ok(ms > ATTACK_MAX_MS, `${source}: ${ms} ms`);
    }
  });

  test('the words before a number are few, however long a name and a text are', async () => {
    const { findPersonalData } = await import('../assistant/privacy/find.ts');
    const exec = RegExp.prototype.exec;
    let longest = 0;
    RegExp.prototype.exec = function (text) {
      if (this.source.includes('bestell') || this.source.includes('telef')) longest = Math.max(longest, text.length);
      return exec.call(this, text);
    };
    try {
      findPersonalData(`${'id '.repeat(13)}5551234 ${'x '.repeat(5_000)}5551234`, ['DE'], 'order '.repeat(1_000));
    } finally {
      RegExp.prototype.exec = exec;
    }
    assert.ok(longest > 0 && longest <= 106, `${longest} characters`);
  });
});
