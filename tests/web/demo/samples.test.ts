/** The samples of the page of components, held against the catalog. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { validate } from '../../../protocol/catalog/component.ts';
import { searchOf, stageOf } from '../../../web/demo/components/stage.ts';
import { SHOWN } from '../../../web/demo/components/states.ts';

test('DEMO-3: every component of the catalog has samples, and each of them passes its validator', () => {
  assert.deepEqual(Object.keys(SHOWN).sort(), [...CATALOG.keys()].sort());
  for (const [type, samples] of Object.entries(SHOWN)) {
    const component = CATALOG.get(type);
    assert.ok(component !== undefined && samples.length > 0);
    const names = samples.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length, `names of ${type}`);
    for (const { name, body } of samples) {
      const result = validate(component.body, body);
      assert.ok(result.ok, `${type}, ${name}: ${result.ok ? '' : JSON.stringify(result.details)}`);
    }
  }
});

test('DEMO-3: the address keeps what was chosen, and what is none of the choices is as usual', () => {
  const chosen = { scheme: 'dark', direction: 'rtl', width: 320 } as const;
  assert.deepEqual(stageOf(searchOf(chosen)), chosen);
  assert.equal(searchOf(stageOf('?scheme=pink&dir=up&width=3')), '');
});
