/** A currency is one of ISO 4217. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateBody } from '../../../protocol/catalog/catalog.ts';

const list = (currency: string) => ({ layout: 'list', items: [{ id: 'a', title: 'Tea', price: { amount: '1.50', currency } }] });

test('BLOCK-7: Money: currencies are those of ISO 4217, and nothing that only looks like one', () => {
  for (const code of ['EUR', 'USD', 'JPY', 'BHD', 'CLF', 'XAU', 'ZWG', 'XCG', 'MRU'])
    assert.ok(validateBody('item_list', list(code)).ok, code);
  for (const code of ['XYZ', 'AAA', 'DEM', 'ZWL', 'BTC', 'eur', 'EURO', '978', '']) {
    const checked = validateBody('item_list', list(code));
    assert.deepEqual([checked.ok, checked.ok || /ISO 4217/.test(JSON.stringify(checked))], [false, true], code);
  }
});
