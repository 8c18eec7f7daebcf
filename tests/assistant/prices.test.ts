import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as v from 'valibot';
import { costMicroUsd, findPrice, KNOWN_PRICES, pricesSchema, priceTable } from '../../assistant/prices.ts';

describe('LIMIT-16, MODEL-21: a cost is the reported usage times the price table', () => {
  test('US dollars per million tokens are micro-dollars per token', () => {
    assert.equal(costMicroUsd(KNOWN_PRICES, 'gpt-4o', { inputTokens: 1_000_000, outputTokens: 1_000_000 }), 12_500_000);
    assert.equal(costMicroUsd(KNOWN_PRICES, 'offline', { inputTokens: 1_000, outputTokens: 1_000 }), 0);
  });

  test('parts of a micro-dollar are rounded up, exact sums are not', () => {
    const table = { m: { input: 1.1, output: 0.15 } };
    assert.equal(costMicroUsd(table, 'm', { inputTokens: 10, outputTokens: 0 }), 11);
    assert.equal(costMicroUsd(table, 'm', { inputTokens: 0, outputTokens: 1 }), 1);
    assert.equal(costMicroUsd(table, 'm', { inputTokens: 10, outputTokens: 1 }), 12);
    assert.equal(costMicroUsd(table, 'm', { inputTokens: 0, outputTokens: 0 }), 0);
  });

  test('a dated version takes the price of its longest known prefix, an exact name its own', () => {
    assert.deepEqual(findPrice(KNOWN_PRICES, 'gpt-4o-mini-2024-07-18'), { ...KNOWN_PRICES['gpt-4o-mini'], known: true });
    assert.deepEqual(findPrice(KNOWN_PRICES, 'gpt-4o-2024-05-13'), { input: 5, output: 15, known: true });
    assert.deepEqual(findPrice(KNOWN_PRICES, 'gpt-4o-2024-08-06'), { input: 2.5, output: 10, known: true });
  });

  test('a prefix ends before a dash, and what nobody knows costs nothing and says so', () => {
    for (const name of ['gpt-4omni', 'llama3', '', '-', 'constructor', '__proto__']) {
      assert.deepEqual(findPrice(KNOWN_PRICES, name), { input: 0, output: 0, known: false }, name);
    }
    assert.equal(costMicroUsd(KNOWN_PRICES, 'llama3', { inputTokens: 5, outputTokens: 5 }), 0);
  });

  test('MODEL_PRICES goes over the built-in table and leaves the rest of it', () => {
    const table = priceTable({ 'gpt-4o': { input: 1, output: 2 }, 'my-model': { input: 0.5, output: 0.5 } });
    assert.deepEqual(findPrice(table, 'gpt-4o'), { input: 1, output: 2, known: true });
    assert.equal(findPrice(table, 'my-model-v2').known, true);
    assert.deepEqual(findPrice(table, 'o3'), { input: 2, output: 8, known: true });
    assert.deepEqual(findPrice(KNOWN_PRICES, 'gpt-4o'), { input: 2.5, output: 10, known: true });
  });

  test('MODEL_PRICES takes two prices a model and nothing else', () => {
    assert.equal(v.safeParse(pricesSchema, { m: { input: 0, output: 1.25 } }).success, true);
    for (const bad of [
      [],
      { m: {} },
      { m: { input: 1, output: -1 } },
      { m: { input: 1, output: '2' } },
      { m: { input: 1, output: 2, x: 3 } },
      { '': { input: 1, output: 2 } },
      { m: { input: 1, output: 1e9 } },
    ]) {
      assert.equal(v.safeParse(pricesSchema, bad).success, false, JSON.stringify(bad));
    }
  });
});
