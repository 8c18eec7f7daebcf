/** How much of a request the definitions of all components are, and that they are the same bytes from turn to turn. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { completionBody } from '../../assistant/models/openai/chat-messages.ts';
import { PassingBody } from '../../assistant/models/stream/request-body.ts';
import { createToolsets } from '../../assistant/toolset.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { completeManifest } from '../../protocol/runtime/manifest.ts';
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
