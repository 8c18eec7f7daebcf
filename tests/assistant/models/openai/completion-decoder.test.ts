import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CompletionDecoder } from '../../../../assistant/models/openai/completion-decoder.ts';
import { SseDecoder } from '../../../../assistant/models/stream/sse-decoder.ts';
import { TOOL_ARGUMENTS_MAX_CHARS } from '../../../../assistant/models/stream/tool-call-assembler.ts';
import { TURN_CALLS_PER_ROUND_MAX } from '../../../../protocol/limits.ts';
import { chunkOf, contentLine, DONE_LINE, dataLine } from './recorded-sink.ts';

interface Decoded {
  readonly decoder: CompletionDecoder;
  /** Text runs and started calls in order. */
  readonly said: string[];
}

function decodeParts(parts: readonly Buffer[]): Decoded {
  const said: string[] = [];
  let text = '';
  const takeText = (): void => {
    text += decoder.takeText();
  };
  const close = (): void => {
    takeText();
    if (text !== '') said.push(text);
    text = '';
  };
  const decoder: CompletionDecoder = new CompletionDecoder((call) => {
    close();
    said.push(`<${call.name}>`);
  });
  const lines = new SseDecoder(decoder);
  for (const part of parts) {
    lines.push(part);
    takeText();
  }
  lines.end();
  close();
  return { decoder, said };
}

function decode(...chunks: unknown[]): Decoded {
  return decodeParts([Buffer.from(chunks.map(dataLine).join('') + DONE_LINE)]);
}

function fragment(fields: Record<string, unknown>): unknown {
  return chunkOf({ tool_calls: [fields] });
}

describe('MODEL-13: completion stream', () => {
  test('text, the finish reason and the usage of a chunk without choices come together', () => {
    const { decoder, said } = decode(
      chunkOf({ role: 'assistant', content: '' }),
      chunkOf({ content: 'Hel' }),
      chunkOf({ content: 'lo' }),
      chunkOf({}, 'stop'),
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } },
    );
    assert.deepEqual(said, ['Hello']);
    assert.equal(decoder.done, true);
    assert.deepEqual(decoder.result(), { reason: 'stop', toolCalls: [], usage: { inputTokens: 7, outputTokens: 2 } });
  });

  test('usage in the last chunk with choices counts, and usage that is no number does not', () => {
    const withUsage = { ...chunkOf({}, 'stop'), usage: { prompt_tokens: 1, completion_tokens: 9 } };
    assert.deepEqual(decode(withUsage).decoder.result().usage, { inputTokens: 1, outputTokens: 9 });
    const odd = { ...chunkOf({}, 'stop'), usage: { prompt_tokens: -1, completion_tokens: 'many' } };
    assert.equal(decode(odd).decoder.result().usage, undefined);
  });

  test('a call split over chunks becomes one call, started when its name is known', () => {
    const { decoder, said } = decode(
      chunkOf({ content: 'Let me see. ' }),
      fragment({ index: 0, id: 'call_a', type: 'function', function: { name: 'find_orders', arguments: '' } }),
      fragment({ index: 0, function: { arguments: '{"id"' } }),
      fragment({ index: 0, function: { arguments: ':"7"}' } }),
      chunkOf({}, 'tool_calls'),
    );
    assert.deepEqual(said, ['Let me see. ', '<find_orders>']);
    assert.deepEqual(decoder.result(), {
      reason: 'tool_calls',
      toolCalls: [{ id: 'call_a', name: 'find_orders', arguments: '{"id":"7"}' }],
      usage: undefined,
    });
  });

  test('interleaved calls are told apart by index', () => {
    const { decoder } = decode(
      fragment({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":' } }),
      fragment({ index: 1, id: 'b', function: { name: 'two', arguments: '{"y":' } }),
      fragment({ index: 0, function: { arguments: '1}' } }),
      fragment({ index: 1, function: { arguments: '2}' } }),
    );
    assert.deepEqual(
      decoder.result().toolCalls.map((call) => call.arguments),
      ['{"x":1}', '{"y":2}'],
    );
  });

  test('calls without id and index get ids of their own', () => {
    const { decoder } = decode(
      fragment({ function: { name: 'one', arguments: '{"x":' } }),
      fragment({ function: { arguments: '1}' } }),
      fragment({ function: { name: 'two', arguments: { y: 2 } } }),
      chunkOf({}, 'stop'),
    );
    const { reason, toolCalls } = decoder.result();
    assert.equal(reason, 'tool_calls');
    assert.deepEqual(
      toolCalls.map((call) => [call.name, call.arguments]),
      [
        ['one', '{"x":1}'],
        ['two', '{"y":2}'],
      ],
    );
    assert.match(toolCalls[0]?.id ?? '', /^call_[0-9a-f]{24}$/);
    assert.notEqual(toolCalls[0]?.id, toolCalls[1]?.id);
  });

  test('a server that numbers every call 0 is understood by the ids, and one id for two calls is not used twice', () => {
    const zero = decode(
      fragment({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      fragment({ index: 0, id: 'b', function: { name: 'two', arguments: '{}' } }),
    ).decoder.result().toolCalls;
    assert.deepEqual(
      zero.map((call) => call.id),
      ['a', 'b'],
    );
    const same = decode(
      fragment({ index: 0, id: 'a', function: { name: 'one', arguments: '{}' } }),
      fragment({ index: 1, id: 'a', function: { name: 'two', arguments: '{}' } }),
    ).decoder.result().toolCalls;
    assert.equal(new Set(same.map((call) => call.id)).size, 2);
  });

  test('MODEL-15: calls beyond the number for a round are dropped with all their fragments', () => {
    const chunks: unknown[] = [];
    for (let index = 0; index < TURN_CALLS_PER_ROUND_MAX + 3; index++) {
      chunks.push(fragment({ index, id: `c${index}`, function: { name: `tool_${index}`, arguments: '{"a":' } }));
      chunks.push(fragment({ index, function: { arguments: '1}' } }));
    }
    const { decoder, said } = decode(...chunks, chunkOf({}, 'tool_calls'));
    assert.equal(said.length, TURN_CALLS_PER_ROUND_MAX);
    assert.equal(decoder.droppedCalls, 3);
    assert.deepEqual(
      decoder.result().toolCalls.map((call) => call.arguments),
      Array(TURN_CALLS_PER_ROUND_MAX).fill('{"a":1}'),
    );
  });

  test('MODEL-15: arguments beyond 64 KB break the stream off', () => {
    const half = 'x'.repeat(TOOL_ARGUMENTS_MAX_CHARS / 2);
    const start = fragment({ index: 0, id: 'a', function: { name: 'one', arguments: half } });
    assert.equal(decode(start, fragment({ index: 0, function: { arguments: half } })).decoder.failure, undefined);
    assert.equal(decode(start, fragment({ index: 0, function: { arguments: `${half}y` } })).decoder.failure?.kind, 'broken');
  });

  test('a call cut off by the length limit is left out, a whole one stays; no arguments are an empty object', () => {
    const { decoder } = decode(
      fragment({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":1}' } }),
      fragment({ index: 1, id: 'b', function: { name: 'two', arguments: '{"y":' } }),
      chunkOf({}, 'length'),
    );
    assert.equal(decoder.result().reason, 'length');
    assert.deepEqual(
      decoder.result().toolCalls.map((call) => call.name),
      ['one'],
    );
    const bare = decode(fragment({ index: 0, id: 'a', function: { name: 'one' } }), chunkOf({}, 'tool_calls'));
    assert.equal(bare.decoder.result().toolCalls[0]?.arguments, '{}');
  });

  test('finish reasons are mapped', () => {
    const reasons = ['stop', 'length', 'content_filter', 'tool_calls', 'something_new'].map(
      (word) => decode(chunkOf({}, word)).decoder.result().reason,
    );
    assert.deepEqual(reasons, ['stop', 'length', 'filtered', 'stop', 'stop']);
    const legacy = decode(
      chunkOf({ function_call: { name: 'one', arguments: '{' } }),
      chunkOf({ function_call: { arguments: '}' } }),
      chunkOf({}, 'function_call'),
    );
    assert.equal(legacy.decoder.result().reason, 'tool_calls');
    assert.equal(legacy.decoder.result().toolCalls[0]?.arguments, '{}');
  });

  test('other choices, odd types and a refusal do no harm', () => {
    const { said, decoder } = decode(
      [],
      { choices: null },
      { choices: [null] },
      { choices: [{ index: 1, delta: { content: 'other' } }] },
      { choices: [{ delta: { content: 5, tool_calls: [null, 'x', {}] } }] },
      { choices: [{ delta: null }] },
      { choices: [{ delta: { content: null, refusal: 'I cannot.' } }] },
    );
    assert.deepEqual(said, ['I cannot.']);
    assert.equal(decoder.failure, undefined);
  });

  test('an error line is busy before any output when it says so, else broken', () => {
    const overload = { error: { message: 'Slow down.', type: 'overloaded_error', code: 529 } };
    assert.deepEqual(decode(overload).decoder.failure, {
      kind: 'busy',
      detail: 'error in the stream 529 overloaded_error: Slow down.',
      status: 529,
      code: 'overloaded_error',
    });
    assert.equal(decode({ error: { code: 'rate_limit_exceeded' } }).decoder.failure?.kind, 'busy');
    assert.equal(decode({ object: 'error', message: 'x', code: 503 }).decoder.failure?.kind, 'busy');
    assert.equal(decode({ error: 'boom' }).decoder.failure?.kind, 'broken');
    assert.equal(decode(chunkOf({ content: 'Hi' }), overload).decoder.failure?.kind, 'broken');
    const llama = decodeParts([Buffer.from('error: {"code":503,"type":"unavailable_error"}\n\n')]);
    assert.equal(llama.decoder.failure?.kind, 'busy');
  });

  test('a line that is no JSON, or no object, is broken', () => {
    for (const line of ['data: {"choices":[', 'data: 7', 'data: null', 'data: <html>']) {
      assert.equal(decodeParts([Buffer.from(`${line}\n\n`)]).decoder.failure?.kind, 'broken', line);
    }
  });
});

/** The content of a payload as JSON.parse has it; every payload below has one. */
function parsedContent(payload: string): string {
  return (JSON.parse(payload) as { choices: { delta: { content: string } }[] }).choices[0]?.delta.content ?? '';
}

describe('MODEL-13: the short way for content deltas', () => {
  test('gives what JSON.parse gives for every line, whatever the content and however the lines differ', () => {
    const content = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(' tok', '"', '\\', '\\"', '\u0000', '\n', '\u2028', '🦜', '"content":"x"', '"},"finish_reason":"stop"'),
    );
    const escaped = (text: string): string =>
      `"${[...text].map((c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`;
    const line = fc.record({
      content,
      literal: fc.boolean(),
      created: fc.constantFrom(1, 1, 1, 2),
      space: fc.constantFrom('', '', ' '),
      tail: fc.constantFrom('', ...['abc', '', 'wxyz', 'a\\"b', 'a\\\\'].map((padding) => `,"obfuscation":"${padding}"`)),
      twice: fc.constantFrom(false, false, false, true),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 3, maxLength: 30 }), (lines) => {
        const decoder = new CompletionDecoder(() => {});
        for (const { content: text, literal, created, space, tail, twice } of lines) {
          const value = literal ? JSON.stringify(text) : escaped(text);
          const first = twice ? `"content":"first",` : '';
          const payload = `{"id":"a","created":${created},"choices":[{"index":0,"delta":{${first}"content":${space}${value}},"finish_reason":null}]${tail}}`;
          assert.equal(decoder.data(payload), true);
          assert.equal(decoder.takeText(), parsedContent(payload));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the usual delta is not parsed', (t) => {
    const decoder = new CompletionDecoder(() => {});
    for (const word of ['one', 'two']) decoder.data(contentLine(word).slice(6, -2));
    const parse = t.mock.method(JSON, 'parse');
    for (const word of ['three', ' ', '', '🦜']) decoder.data(contentLine(word).slice(6, -2));
    assert.equal(decoder.text, 'onetwothree 🦜');
    assert.equal(parse.mock.callCount(), 0);
  });

  test('a content elsewhere in the line is not taken for that of the delta', () => {
    const decoder = new CompletionDecoder(() => {});
    const line = (echo: string, word: string): string => `{"echo":{"content":"${echo}"},"choices":[{"delta":{"content":"${word}"}}]}`;
    for (const word of ['a', 'a', 'a']) decoder.data(line(word, word));
    decoder.data(line('wrong', 'a'));
    assert.equal(decoder.text, 'aaaa');
  });

  test('padding that ends, breaks or hides in a line changes nothing', () => {
    const padded = (content: string, padding: string, more = ''): string =>
      `{"choices":[{"index":0,"delta":{"content":"${content}"}}],"obfuscation":"${padding}"${more}}`;
    const decoder = new CompletionDecoder(() => {});
    for (const word of ['one', 'two', 'three']) decoder.data(padded(word, word));
    decoder.data(padded('four', 'x', ',"choices":[{"delta":{"content":"FOUR"}}],"x":"y"'));
    decoder.data(padded('', ''));
    decoder.data(padded('five', 'a\\"'));
    assert.equal(decoder.text, 'onetwothreeFOURfive');
    for (const bad of [padded('six', 'a\tb'), padded('six', '').slice(0, -1), padded('six', '').slice(0, -2)]) {
      const broken = new CompletionDecoder(() => {});
      for (const word of ['one', 'two', 'three']) broken.data(padded(word, word));
      assert.equal(broken.data(bad), false);
      assert.equal(broken.text, 'onetwothree');
    }
  });

  test('a line cut off behind a fitting content, or broken inside it, is not taken for a whole one', () => {
    for (const bad of [contentLine('next').slice(6, -4), contentLine('next').slice(6, -2).replace('next', 'ne\txt')]) {
      const decoder = new CompletionDecoder(() => {});
      for (const word of ['one', 'two', 'three', 'four']) decoder.data(contentLine(word).slice(6, -2));
      assert.equal(decoder.data(bad), false);
      assert.equal(decoder.failure?.kind, 'broken');
      assert.equal(decoder.text, 'onetwothreefour');
    }
  });
});

describe('MODEL-13: chunking', () => {
  test('any chunking of a valid stream decodes to the same text and calls', () => {
    const event = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((content) => ({ content })),
      fc.constantFrom({ content: ' word' }, { content: 'é€🦜' }),
      fc.record({ index: fc.nat(3), piece: fc.string({ unit: 'grapheme', maxLength: 6 }) }).map(({ index, piece }) => ({
        tool_calls: [{ index, id: `call_${index}`, function: { name: `tool_${index}`, arguments: piece } }],
      })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), fc.array(fc.nat(6_000), { maxLength: 60 }), fc.boolean(), (events, cuts, crlf) => {
        const text = `: hi\n${events.map((delta) => dataLine(chunkOf(delta))).join('')}${dataLine(chunkOf({}, 'stop'))}${DONE_LINE}`;
        const bytes = Buffer.from(crlf ? text.replaceAll('\n', '\r\n') : text);
        const bounds = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
        const cut = decodeParts(bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end)));
        const whole = decodeParts([bytes]);
        assert.deepEqual(cut.said, whole.said);
        assert.deepEqual(cut.decoder.result(), whole.decoder.result());
        const expected = events.map((delta) => ('content' in delta ? delta.content : '')).join('');
        assert.equal(cut.said.filter((item) => !/^<tool_\d>$/.test(item)).join(''), expected);
        assert.equal(cut.decoder.done, true);
      }),
    );
  });
});
