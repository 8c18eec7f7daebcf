/** GET /v1/schemas is fit for generators of types, and the types that are shipped are what one of them makes of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compile } from 'json-schema-to-typescript';
import { runtimeSchemas } from '../../../protocol/runtime/schemas.ts';
import { runtimeTypes, TYPES_FILE } from '../../../tools/runtime-types.ts';
import type { Block, ChatRequest, StreamEvent } from '../../../types/assistant-runtime.d.ts';

/** A block of any component is described in some 25 KB; tuples made hundreds of it. */
const GENERATED_MAX_CHARS = 60_000;

test('VERSION-8: a generator of types makes a readable file of every schema', async () => {
  const { requests, events, replies } = runtimeSchemas();
  for (const group of [requests, events, replies]) {
    for (const [name, schema] of Object.entries(group)) {
      const types = await compile(structuredClone(schema) as never, name, { format: false });
      assert.ok(types.length < GENERATED_MAX_CHARS, `${name}: ${types.length}`);
      assert.doesNotMatch(types, /block_type\?:/, name);
      assert.doesNotMatch(JSON.stringify(schema).replaceAll(/"not":\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, ''), /"maxItems":\d/, name);
    }
  }
});

test('VERSION-8: types/assistant-runtime.d.ts is what `npm run types` writes', async () => {
  assert.equal(readFileSync(TYPES_FILE, 'utf8'), await runtimeTypes(), 'the schemas changed: run `npm run types`, and keep what it wrote');
});

/** Compiles: that is the proof. */
function titleOf(block: Block): string {
  switch (block.block_type) {
    case 'text':
      return block.body.md;
    case 'timeline':
      return block.body.events[0]?.title ?? '';
    default:
      return block.fallback_text ?? '';
  }
}

function textOf(event: StreamEvent): string {
  if (event.type === 'block.delta') return event.text_delta;
  if (event.type === 'block.ready') return titleOf(event.block);
  return event.type === 'error' && event.retryable ? event.message : '';
}

test('VERSION-8: the types narrow by event and by component, and take plain lists in requests', () => {
  const attachments = ['upl_1'].map((upload_id) => ({ upload_id }));
  const request: ChatRequest = {
    message: { text: 'Hello' },
    attachments,
    client: { protocol: 1, sdk: 'web/1.0.0', catalog_version: '2026-11.a', components: ['text'] },
  };
  assert.ok(request.client);
  const block: Block = { index: 0, id: 'b', block_type: 'text', revision: 1, body: { md: 'Hi' } };
  assert.equal(textOf({ type: 'block.ready', v: 1, seq: 1, index: 0, block }), 'Hi');
});
