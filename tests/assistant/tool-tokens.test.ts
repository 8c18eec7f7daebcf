/** How much of a request the definitions of all components are, and that they are the same bytes from turn to turn. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { ChatMessage } from '../../assistant/models/model.ts';
import { completionBody } from '../../assistant/models/openai/chat-messages.ts';
import { PassingBody } from '../../assistant/models/stream/request-body.ts';
import { modelRequest, systemPrompt } from '../../assistant/prompt.ts';
import { createToolsets } from '../../assistant/toolset.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { validate } from '../../protocol/catalog/component.ts';
import { completeManifest } from '../../protocol/runtime/manifest.ts';
import { DEFAULT_PERSONA } from '../../protocol/setup/persona.ts';
import { request } from './models/openai/recorded-sink.ts';

/** Each request pays for them. */
const TOKENS_MAX = 3_600;

/** One screen, without which `screens` is not offered. */
const document = completeManifest({ version: '1', actions: [], routes: [{ name: 'orders', title: 'Orders' }] });
const everything = () => ({
  components: [...CATALOG.keys()],
  actionKinds: [],
  manifest: { hash: 'm', document },
  http: undefined,
  hasKnowledge: false,
});

function sent(tools: ReturnType<ReturnType<typeof createToolsets>>['definitions'], text: string): string {
  const body = completionBody('m', request({ tools, messages: [{ role: 'user', content: text }] }));
  assert.ok(body instanceof PassingBody);
  return Buffer.concat([...body]).toString();
}

describe('MODEL-29: the definitions of the components', () => {
  test('of all components, as they are sent, take at most 3,600 tokens', () => {
    const { definitions } = createToolsets()(everything());
    const { tools } = JSON.parse(sent(definitions, 'Hello')) as { tools: unknown[] };
    assert.equal(tools.length, 24);
    const tokens = countTokens(JSON.stringify(tools));
    assert.ok(tokens <= TOKENS_MAX, `${tokens} tokens`);
  });

  test('MODEL-37: examples of the five hardest are bodies that the catalog takes', () => {
    const examples = [...CATALOG.values()].filter(({ example }) => example !== undefined);
    assert.deepEqual(examples.map(({ name }) => name).sort(), ['comparison', 'datetime_slots', 'form', 'order_tracker', 'variant_picker']);
    const { definitions } = createToolsets()(everything());
    for (const { name, example, modelArgs } of examples) {
      const made = validate(modelArgs, example);
      assert.ok(made.ok, JSON.stringify(made));
      const said = definitions.find((definition) => definition.name === name)?.description ?? '';
      assert.ok(said.endsWith(`Example: ${JSON.stringify(example)}`), said);
    }
  });

  test('the same bytes in every request of the same build and manifest, also when they were made anew', () => {
    const toolsets = createToolsets();
    const ends = [toolsets(everything()), toolsets(everything()), createToolsets()(everything())].map(({ definitions }, turn) => {
      const body = sent(definitions, `Turn ${turn}`);
      return body.slice(body.indexOf(',"tools":'));
    });
    assert.ok((ends[0]?.length ?? 0) > 10_000);
    assert.deepEqual(new Set(ends).size, 1);
  });
});

describe('MODEL-6, MODEL-32: what stands before the message that is answered', () => {
  test('MODEL-34: the instructions explain placeholders of every kind, and without a persona take at most 700 tokens', () => {
    const prompt = systemPrompt('Shop', DEFAULT_PERSONA, 'en');
    for (const kind of ['email', 'phone', 'iban', 'card']) assert.match(prompt, new RegExp(`⟦${kind}_\\d⟧`));
    const tokens = countTokens(prompt);
    assert.ok(tokens <= 700, `${tokens} tokens`);
  });

  test('is the same bytes in the next turn, though the time, the passages and the screen are others', () => {
    const turn = (messages: ChatMessage[], now: string) => {
      const passages = [{ sourceId: 's', externalKey: 'k', title: now, headings: [], text: now, score: 1 }];
      const context = { current_screen: { name: now } };
      const input = { ...request({ messages, now, passages }), context, traits: null };
      const body = completionBody('m', modelRequest(input));
      assert.ok(body instanceof PassingBody);
      return Buffer.concat([...body]).toString();
    };
    const first: ChatMessage[] = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
    ];
    const asked: ChatMessage[] = [...first, { role: 'user', content: 'Where is it?' }];
    const [one, other] = [turn(asked, 'Now: Monday 10:00.'), turn([...first, { role: 'user', content: 'And now?' }], 'Now: Monday 10:01.')];
    const same = one.indexOf('<<data:');
    assert.equal(other.slice(0, same), one.slice(0, same));
    assert.ok(one.slice(0, same).includes('"Hi"') && !one.slice(0, same).includes('Now:'));
    // In a later round what was said and called comes behind it.
    const call = { id: 'c', name: 'find', arguments: '{}' };
    const later = turn(
      [...asked, { role: 'assistant', content: '', toolCalls: [call] }, { role: 'tool', toolCallId: 'c', name: 'find', content: 'found' }],
      'Now: Monday 10:00.',
    );
    const end = one.indexOf('Where is it?');
    assert.equal(later.slice(0, end), one.slice(0, end));
  });
});
