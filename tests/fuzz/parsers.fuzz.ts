/**
 * Parsers of what strangers send, asked directly: ten million cases with THOROUGH=1,
 * and as many as fit into half a minute without. Beside "does not throw what it does not say" and "does not stall", each has
 * a rule of its own that must hold whatever comes.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as v from 'valibot';
import { checkParams } from '../../assistant/action-params.ts';
import { plainFileText } from '../../assistant/attachments/attachment-text.ts';
import { uploadType } from '../../assistant/attachments/upload-type.ts';
import { renderBody, renderUrl, sendableParams, Unsendable } from '../../assistant/http-action/template.ts';
import { CHUNK_MAX_CHARS, chunkText } from '../../assistant/knowledge/chunk.ts';
import { SseDecoder } from '../../assistant/models/stream/sse-decoder.ts';
import { findPersonalData } from '../../assistant/privacy/find.ts';
import { hideInAddresses, PlaceholderGate } from '../../assistant/privacy/placeholder-gate.ts';
import { redactText, rewriteStrings } from '../../assistant/privacy/placeholder-table.ts';
import { RedactionWork } from '../../assistant/privacy/redaction-work.ts';
import { safeBlock } from '../../assistant/privacy/safe-block.ts';
import { parseJson } from '../../gateway/http/body.ts';
import { addressKey, clientBehind, proxyTrust } from '../../gateway/http/client-address.ts';
import { openUploadForm } from '../../gateway/http/multipart.ts';
import { CATALOG, fallbackText, modelBody, validateBody } from '../../protocol/catalog/catalog.ts';
import { Refusal } from '../../protocol/errors.ts';
import { completeManifest, manifestRequest } from '../../protocol/runtime/manifest.ts';
import { RUNTIME_BODIES, runtimeSchemas } from '../../protocol/runtime/schemas.ts';
import { shapeFault } from '../../protocol/schema/json-shape.ts';
import { setupSchemas } from '../../protocol/setup/schemas.ts';
import type { Dice } from '../support/seeded.ts';
import { caseNumbers, diceOf, FuzzFailure, SEED, stallOf } from './cases.ts';
import { RASTERS } from './documents.ts';
import { type Schema, valueFor } from './from-schema.ts';
import { damaged, hostileName, hostileText, hostileValue, objectOf } from './hostile.ts';

interface Fuzzer<Input> {
  readonly name: string;
  /** Cases of the long form. */
  readonly full: number;
  make(dice: Dice): Input;
  /** @throws AssertionError when its rule does not hold; anything else is a bug as well. */
  check(input: Input): void;
}

const BRIEF_MS = 2_200;
const TEXT_MAX_CHARS = 20_000;

function fuzz<Input>({ name, full, make, check }: Fuzzer<Input>): void {
  test(`SAFE-3: ${name} keeps its rule, and time, whatever it is given`, (t) => {
    let cases = 0;
    for (const number of caseNumbers({ full, briefMs: BRIEF_MS })) {
      const input = make(diceOf(number));
      let stalledMs: number | undefined;
      try {
        stalledMs = stallOf(() => check(input));
      } catch (cause) {
        throw new FuzzFailure(number, `${name}: ${cause instanceof Error ? cause.message : String(cause)}`, input, { cause });
      }
      if (stalledMs !== undefined) throw new FuzzFailure(number, `${name}: took ${Math.round(stalledMs)} ms of CPU`, input);
      cases++;
    }
    t.diagnostic(`seed ${SEED}: ${cases} cases`);
  });
}

const text = (dice: Dice) => hostileText(dice, TEXT_MAX_CHARS);
const REGIONS = [undefined, 'DE', 'US', 'FR', 'BR', 'JP', 'XX'] as const;

/** Refusals are answers; whatever else is thrown is a bug. */
function refusable<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal || error instanceof Unsendable) return undefined;
    throw error;
  }
}

describe('SAFE-3: personal data', () => {
  fuzz({
    name: 'the finder of personal data',
    full: 1_500_000,
    make: (dice) => ({ text: text(dice), label: hostileName(dice, 9_000), region: dice.pick(REGIONS) }),
    check({ text, label, region }) {
      let from = 0;
      for (const { start, end, value } of findPersonalData(text, region === undefined ? [] : [region], label)) {
        assert.ok(start >= from && end > start && end <= text.length, 'findings are in order and within the text');
        assert.equal(value, text.slice(start, end));
        from = end;
      }
    },
  });

  fuzz({
    name: 'redacting a value with all its names',
    full: 400_000,
    make: (dice) => ({ value: hostileValue(dice, 4_000), region: dice.pick(REGIONS), secret: 'anna@example.com' }),
    check({ value, region, secret }) {
      const work = new RedactionWork();
      const given = objectOf([
        ['value', value],
        ['said', `Write to ${secret} now`],
        [secret, 1],
      ]);
      const redacted = JSON.stringify(
        rewriteStrings(
          given,
          (text, label) => redactText(text, { regions: region === undefined ? [] : [region], label, work }, (kind) => `⟦${kind}_1⟧`),
          true,
        ),
      );
      assert.ok(!redacted.includes(secret), 'no value and no name lets an address through');
    },
  });

  fuzz({
    name: 'the gate of placeholders',
    full: 1_200_000,
    make: (dice) => ({ text: text(dice), cuts: Array.from({ length: dice.below(6) }, () => dice.below(400)).sort((a, b) => a - b) }),
    check({ text, cuts }) {
      const gate = new PlaceholderGate();
      let said = '';
      let from = 0;
      for (const cut of cuts.filter((at) => at < text.length)) {
        said += gate.push(text.slice(from, cut));
        from = cut;
      }
      said += gate.push(text.slice(from)) + gate.flush();
      assert.equal(said, hideInAddresses(text), 'what is said does not depend on how it comes in pieces');
    },
  });
});

const SSE_PIECES = ['data: ', 'data:', 'error:', 'event: x', '\n', '\r\n', '\r', '\n\n', ': ping', '{"a":1}', '[DONE]', '\ufeff', 'id:'];

describe('SAFE-3: what arrives as bytes', () => {
  fuzz({
    name: 'the decoder of event streams',
    full: 1_500_000,
    make(dice) {
      const parts = Array.from({ length: dice.between(1, 20) }, () =>
        dice.below(3) === 0 ? hostileText(dice, 300) : dice.pick(SSE_PIECES),
      );
      const bytes = Buffer.from(parts.join(''));
      return { bytes: dice.below(3) === 0 ? damaged(dice, bytes) : bytes, size: dice.between(1, 40) };
    },
    check({ bytes, size }) {
      const payloadsOf = (pieceBytes: number) => {
        const payloads: string[] = [];
        const keep = (payload: string) => payloads.push(payload) > 0;
        const decoder = new SseDecoder({ data: keep, error: keep });
        for (let at = 0; at < bytes.length; at += pieceBytes) assert.ok(decoder.push(bytes.subarray(at, at + pieceBytes)));
        assert.ok(decoder.end());
        return payloads;
      };
      assert.deepEqual(payloadsOf(size), payloadsOf(bytes.length || 1), 'payloads do not depend on how bytes come in pieces');
    },
  });

  fuzz({
    name: 'the reader of JSON bodies',
    full: 1_500_000,
    make(dice) {
      const bytes = Buffer.from(JSON.stringify(hostileValue(dice, 2_000)));
      return dice.below(2) === 0 ? damaged(dice, bytes) : bytes;
    },
    check(bytes) {
      shapeFault(bytes, { depth: 4, keys: 3, members: 5 });
      const value = refusable(() => parseJson(bytes, 'runtime'));
      if (value !== undefined) assert.equal(Object.getPrototypeOf(Object(value)) !== null, true);
      assert.equal(({} as Record<string, unknown>).a, undefined, 'nothing is added to the prototype of all');
    },
  });

  fuzz({
    name: 'the reader of multipart bodies',
    full: 400_000,
    make(dice) {
      const part = (name: string, more: string) =>
        `--xx\r\nContent-Disposition: form-data; name="${name}"${more}\r\nContent-Type: ${dice.pick(['image/png', 'text/plain', ''])}\r\n\r\n${hostileText(dice, 300)}\r\n`;
      const parts = Array.from({ length: dice.between(0, 3) }, () =>
        part(dice.below(3) > 0 ? 'file' : hostileName(dice, 60), dice.below(3) > 0 ? `; filename="${hostileName(dice, 60)}"` : ''),
      );
      const bytes = Buffer.from(`${parts.join('')}--xx--\r\n`);
      const type = dice.below(8) === 0 ? hostileText(dice, 60) : 'multipart/form-data; boundary=xx';
      return { bytes: dice.below(3) > 0 ? damaged(dice, bytes) : bytes, size: dice.between(1, 200), type };
    },
    check({ bytes, size, type }) {
      let settled = 0;
      const form = refusable(() => openUploadForm(type, { field: 'file', maxBytes: 1_000 }, 'runtime', () => settled++));
      if (form === undefined) return;
      for (let at = 0; at < bytes.length; at += size) form.write(Buffer.from(bytes.subarray(at, at + size)));
      form.end();
      assert.ok(settled <= 1, 'an upload has one outcome');
    },
  });

  test('SAFE-3: telling the types of uploads answers or refuses, whatever it is given', async (t) => {
    let cases = 0;
    for (const number of caseNumbers({ full: 20_000, briefMs: BRIEF_MS })) {
      const dice = diceOf(number);
      const bytes = damaged(dice, dice.pick(RASTERS).bytes);
      await uploadType(bytes, 'org_1').catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw new FuzzFailure(number, String(error), bytes, { cause: error });
      });
      cases++;
    }
    t.diagnostic(`seed ${SEED}: ${cases} cases`);
  });
});

const URLS = [
  'https://h.invalid/a/{{param.id}}/b?x={{param.q}}&y={{param.id}}#z',
  'https://h.invalid/{{param.id}}{{param.q}}',
  'https://h.invalid/a%2/{{param.id}}?{{param.q}}=1',
];
const BODIES = ['{"a":{{param.id}},"b":"x {{param.q}} y","c":["{{param.id}}",{{param.q}}]}', '"{{param.id}}"', '{{param.q}}'];

describe('SAFE-3: templates and parameters', () => {
  fuzz({
    name: 'filling the templates of actions',
    full: 900_000,
    make(dice) {
      const fields = ['id', 'q'].filter(() => dice.below(8) > 0).map((name) => [name, hostileValue(dice, 2_000, 5)] as const);
      return { url: dice.pick(URLS), body: dice.pick(BODIES), params: objectOf(fields) };
    },
    check({ url, body, params }) {
      const sendable = sendableParams(params);
      const made = refusable(() => renderUrl(url, sendable, new Map([['api_key', 'k']])));
      assert.ok(made === undefined || (made.origin === 'https://h.invalid' && made.hash === ''), 'a value stays where its marker stands');
      assert.ok(made === undefined || made.searchParams.getAll('api_key').length === 1);
      const rendered = refusable(() => renderBody(body, sendable));
      if (rendered !== undefined && sendable.size === 2) JSON.parse(rendered);
    },
  });

  fuzz({
    name: 'checking what a model calls an action with',
    full: 600_000,
    make(dice) {
      const json = JSON.stringify(hostileValue(dice, 2_000));
      return dice.below(3) === 0 ? damaged(dice, Buffer.from(json)).toString() : json;
    },
    check(json) {
      const declared = { id: { type: 'string', required: true, editable: false }, a: { type: 'number', required: false, editable: true } };
      checkParams(declared as never, json);
    },
  });

  fuzz({
    name: "finding the client's address",
    full: 700_000,
    make(dice) {
      const node = () =>
        dice.below(3) === 0
          ? hostileText(dice, 60)
          : dice.pick(['10.0.0.1', '::1', '[2001:db8::7]:1', '203.0.113.7:80', 'for=10.0.0.2', 'for="[::1]"']);
      const lines = Array.from({ length: dice.below(4) }, () =>
        Array.from({ length: dice.between(1, 5) }, node).join(dice.pick([',', ';', ', '])),
      );
      return {
        peer: dice.pick(['127.0.0.1', '::ffff:10.0.0.1', '', 'x']),
        lines,
        trust: dice.pick(['1', '3', 'forwarded,2', '10.0.0.0/8,::1', node()]),
      };
    },
    check({ peer, lines, trust }) {
      const read = v.safeParse(proxyTrust, trust);
      const client = clientBehind(peer, lines, read.success ? read.output : undefined);
      assert.equal(
        addressKey(client),
        addressKey(clientBehind(client, [], undefined)),
        'what was found is an address, or the peer as it was',
      );
    },
  });
});

describe('SAFE-3: documents and schemas', () => {
  fuzz({
    name: 'cutting documents into chunks',
    full: 250_000,
    make: text,
    check(text) {
      for (const chunk of chunkText(text)) assert.ok(chunk.text.length <= CHUNK_MAX_CHARS && chunk.text.trim() !== '');
    },
  });

  fuzz({
    name: 'reading text files',
    full: 250_000,
    make: (dice) => damaged(dice, Buffer.from(text(dice))),
    check: (bytes) => plainFileText(bytes),
  });

  const requests = { ...runtimeSchemas().requests } as Readonly<Record<string, Schema>>;
  const setup = setupSchemas('production') as Readonly<Record<string, Schema>>;
  const making = (dice: Dice) => ({ dice, oddOneIn: dice.pick([4, 12, 40, Infinity]), known: new Map() });

  for (const [name, { schema }] of Object.entries(RUNTIME_BODIES)) {
    fuzz<unknown>({
      name: `checking a body of ${name}`,
      full: 60_000,
      make: (dice) => valueFor(requests[name] as Schema, making(dice)),
      check: (body) => void v.safeParse(schema, body),
    });
  }

  fuzz<unknown>({
    name: 'completing a manifest',
    full: 100_000,
    make: (dice) => valueFor(requests.manifest as Schema, making(dice)),
    check(body) {
      const read = v.safeParse(manifestRequest, body);
      if (!read.success) return;
      const once = completeManifest(read.output.manifest);
      assert.equal(once.actions.length, read.output.manifest.actions.length);
    },
  });

  const components = [...CATALOG.values()];
  fuzz<{ readonly name: string; readonly body: unknown }>({
    name: 'checking blocks',
    full: 320_000,
    make(dice) {
      const component = dice.pick(components);
      return { name: component.name, body: valueFor(component.parameters, making(dice)) };
    },
    check({ name, body }) {
      validateBody(name, body);
      const made = modelBody(name, body, { blockId: 'blk_1' });
      if (!made.ok) return;
      assert.ok(Array.from(fallbackText(name, made.body)).length <= 600, 'code points (BLOCK-11)');
      safeBlock({ index: 0, id: 'blk_1', block_type: name, revision: 1, body: made.body } as never, () => true);
    },
  });

  test('SAFE-3: what is made from the published schemas without anything odd fits them, of each at least one in ten', () => {
    for (const [name, { schema }] of Object.entries(RUNTIME_BODIES)) {
      let fits = 0;
      for (let number = 0; number < 60; number++) {
        const body = valueFor(requests[name] as Schema, { dice: diceOf(number), oddOneIn: Infinity, known: new Map() });
        if (v.safeParse(schema, body).success) fits++;
      }
      assert.ok(fits >= 6, `${name}: ${fits} of 60`);
    }
    assert.ok(Object.keys(setup).length > 0);
  });
});
