/** Several models as one, over models that do as they are told. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Breaker, withFallbacks } from '../../../assistant/models/fallbacks.ts';
import type { Model, ModelFailure, ModelRequest, ModelSink } from '../../../assistant/models/model.ts';
import { RecordedSink, request } from './openai/recorded-sink.ts';

interface Told extends Model {
  readonly sinks: ModelSink[];
  readonly requests: ModelRequest[];
  readonly ended: string[];
}

function told(name: string): Told {
  const [sinks, requests, ended]: [ModelSink[], ModelRequest[], string[]] = [[], [], []];
  return {
    name,
    sinks,
    requests,
    ended,
    stream(asked, sink) {
      sinks.push(sink);
      requests.push(asked);
      const note = (what: string) => () => void ended.push(what);
      return { pause: note('pause'), resume: note('resume'), abort: note('abort') };
    },
    close: async () => void ended.push('close'),
  };
}

const BUSY: ModelFailure = { kind: 'busy', detail: 'later' };
const DONE = { reason: 'stop', toolCalls: [], usage: undefined } as const;

class FallingSink extends RecordedSink {
  readonly fallbacks: string[] = [];
  readonly inPlace: string[] = [];
  allows = true;

  passedOver(next: string): void {
    this.inPlace.push(next);
  }

  fellBack({ model, kind }: ModelFailure, next: string): boolean {
    this.fallbacks.push(`${model} ${kind} → ${next}`);
    return this.allows;
  }
}

describe('MODEL-41: falling back', () => {
  test('a failure before the first word asks the next model in the same round, and tells of it', async () => {
    const [one, two] = [told('one'), told('two')];
    const model = withFallbacks([one, two]);
    const sink = new FallingSink();
    model.stream(request(), sink);
    one.sinks[0]?.failed(BUSY);
    two.sinks[0]?.text('Hello');
    two.sinks[0]?.finished(DONE);
    assert.deepEqual(sink.heard, [{ text: 'Hello' }, { finished: { ...DONE, model: 'two' } }]);
    assert.deepEqual([sink.fallbacks, model.name], [['one busy → two'], 'one']);
  });

  test('after the first word or call, for a refused request, or where the turn has no try left, it has failed', () => {
    for (const [first, failure, allows] of [
      ['text', BUSY, true],
      ['call', BUSY, true],
      ['', { kind: 'refused', detail: 'no' }, true],
      ['', { kind: 'busy', detail: 'too many pictures', isOurs: true }, true],
      ['', BUSY, false],
    ] as const) {
      const [one, two] = [told('one'), told('two')];
      const sink = new FallingSink();
      sink.allows = allows;
      withFallbacks([one, two]).stream(request(), sink);
      if (first === 'text') one.sinks[0]?.text('Hel');
      if (first === 'call') one.sinks[0]?.toolCallStarted({ id: 'c', name: 'go' });
      one.sinks[0]?.failed(failure);
      assert.deepEqual([sink.heard.at(-1), two.sinks.length], [{ failed: { ...failure, model: 'one' } }, 0]);
    }
  });

  test('the last one’s failure is the round’s, told once', () => {
    const [one, two] = [told('one'), told('two')];
    const sink = new FallingSink();
    withFallbacks([one, two]).stream(request(), sink);
    one.sinks[0]?.failed(BUSY);
    two.sinks[0]?.failed({ kind: 'broken', detail: 'gone' });
    assert.deepEqual(sink.heard, [{ failed: { kind: 'broken', detail: 'gone', model: 'two' } }]);
  });

  test('a pause reaches the model that is asked next, an end the one that is asked now; one model alone stays as it is', async () => {
    const [one, two] = [told('one'), told('two')];
    const model = withFallbacks([one, two]);
    const run = model.stream(request(), new FallingSink());
    run.pause();
    one.sinks[0]?.failed(BUSY);
    run.resume();
    run.abort();
    await model.close();
    assert.deepEqual(
      [one.ended, two.ended],
      [
        ['pause', 'close'],
        ['pause', 'resume', 'abort', 'close'],
      ],
    );
  });

  test('a model that keeps failing is passed over, then one round at a time asks it, and its answer brings it back', () => {
    let nowMs = 0;
    const [one, two] = [told('one'), told('two')];
    const model = withFallbacks([one, two], () => nowMs);
    const ask = () => model.stream(request(), new FallingSink());
    for (let nth = 0; nth < 5; nth++) {
      ask();
      one.sinks[nth]?.failed(BUSY);
    }
    const sink = new FallingSink();
    model.stream(request(), sink);
    assert.deepEqual([one.sinks.length, two.sinks.length, sink.inPlace], [5, 6, ['two']], 'passed over, which the turn is told');
    nowMs = 10_000;
    const probe = ask();
    ask();
    assert.deepEqual([one.sinks.length, two.sinks.length], [6, 7], 'one round looks');
    probe.abort();
    ask();
    one.sinks[6]?.failed(BUSY);
    ask();
    assert.deepEqual([one.sinks.length, two.sinks.length], [7, 9], 'it is not back');
    nowMs = 20_000;
    ask();
    one.sinks[7]?.text('Hello');
    ask();
    assert.deepEqual([one.sinks.length, two.sinks.length], [9, 9], 'it is back');
  });

  test('silence of a model that an app has think for long is not held against it for others', () => {
    for (const [effort, asked] of [
      ['max', 6],
      ['low', 5],
    ] as const) {
      const [one, two] = [told('one'), told('two')];
      const model = withFallbacks([one, two], () => 0);
      for (let nth = 0; nth < 5; nth++) {
        model.stream(request({ choice: { effort } }), new FallingSink());
        one.sinks[nth]?.failed({ kind: 'silent', detail: 'no word within 30 s' });
      }
      assert.equal(two.sinks.length, 5);
      model.stream(request(), new FallingSink());
      assert.equal(one.sinks.length, asked);
    }
  });

  test('where all are passed over, the first is asked as if it were alone', () => {
    const [one, two] = [told('one'), told('two')];
    const model = withFallbacks([one, two], () => 0);
    for (let nth = 0; nth < 5; nth++) {
      model.stream(request(), new FallingSink());
      one.sinks[nth]?.failed(BUSY);
      two.sinks[nth]?.failed(BUSY);
    }
    model.stream(request(), new FallingSink());
    assert.deepEqual([one.sinks.length, two.sinks.length], [6, 5]);
  });

  test('failures that lie apart, or with an answer between them, do not count together', () => {
    let nowMs = 0;
    const breaker = new Breaker(() => nowMs);
    for (let nth = 0; nth < 9; nth++, nowMs += 8_000) breaker.failed();
    assert.ok(breaker.admits());
    breaker.answered();
    for (let nth = 0; nth < 4; nth++) breaker.failed();
    breaker.answered();
    breaker.failed();
    assert.ok(breaker.admits());
    for (let nth = 0; nth < 4; nth++) breaker.failed();
    assert.equal(breaker.admits(), false);
  });
});

describe('MODEL-43: the order that an app chose', () => {
  const [one, two, twin, three] = [told('one'), told('two'), told('two'), told('three')];
  const model = withFallbacks([one, two, twin, three]);
  const all = [one, two, twin, three];
  const nameOf = (asked: Told) => (asked === twin ? 'twin' : asked.name);

  for (const [choice, order] of [
    [{}, 'one two twin three'],
    [{ use: 'three' }, 'three one two twin'],
    [{ use: 'three', fallbacks: [] }, 'three'],
    [{ use: 'three', fallbacks: ['one'] }, 'three one'],
    [{ use: 'two', fallbacks: [] }, 'two twin'],
    [{ fallbacks: ['three'] }, 'one three'],
    [{ use: 'three', fallbacks: ['gone', 'three', 'one'] }, 'three one'],
    [{ use: 'gone', fallbacks: ['three'] }, 'one two twin three'],
  ] as const) {
    test(`${JSON.stringify(choice)}: ${order}`, () => {
      const asked: Told[] = [];
      const before = new Map(all.map((each) => [each, each.sinks.length]));
      const sink = new FallingSink();
      model.stream(request({ choice }), sink);
      for (;;) {
        const next = all.find((each) => each.sinks.length > (before.get(each) ?? 0));
        if (next === undefined) break;
        asked.push(next);
        before.set(next, next.sinks.length);
        // An answer follows each failure, so that no breaker opens.
        next.sinks.at(-1)?.failed(BUSY);
        for (const each of all) each.sinks.at(-1)?.finished(DONE);
      }
      assert.equal(asked.map(nameOf).join(' '), order);
      assert.equal(model.firstOf?.(choice), order.split(' ')[0]);
    });
  }
});

describe('MODEL-44: what a server does not take of how it is asked', () => {
  const REFUSED: ModelFailure = {
    kind: 'refused',
    detail: 'status 400: Unsupported value: temperature does not support 0.2 with this model.',
  };
  const choice = { temperature: 0.2, effort: 'low' } as const;

  test('it is left out, in the same round and from now on, and told once; another value is tried', () => {
    const [one, two] = [told('one'), told('two')];
    const left: string[] = [];
    const model = withFallbacks(
      [one, two],
      () => 0,
      (name, parameter) => left.push(`${name} ${parameter}`),
    );
    const [first, beside] = [new FallingSink(), new FallingSink()];
    for (const sink of [first, beside]) model.stream(request({ choice }), sink);
    // Both were on their way when the server first said so.
    one.sinks[0]?.failed(REFUSED);
    one.sinks[1]?.failed(REFUSED);
    one.sinks[2]?.finished(DONE);
    one.sinks[3]?.finished(DONE);
    model.stream(request({ choice }), new FallingSink());
    model.stream(request({ choice: { temperature: 1 } }), new FallingSink());
    assert.deepEqual(
      one.requests.map((asked) => asked.choice),
      [choice, choice, { effort: 'low' }, { effort: 'low' }, { effort: 'low' }, { temperature: 1 }],
    );
    assert.deepEqual([first.lastWords, beside.lastWords, two.sinks.length], [1, 1, 0]);
    assert.deepEqual(new Set(left), new Set(['one temperature']));
  });

  /** Rounds of these choices, each answered as soon as nothing of it is refused: what of it each request was sent. */
  function sentFor(choices: readonly ModelRequest['choice'][], refusals: (ModelFailure | undefined)[]) {
    const one = told('one');
    const model = withFallbacks([one]);
    for (const asked of choices) {
      const sink = new FallingSink();
      model.stream(request(asked === undefined ? {} : { choice: asked }), sink);
      while (sink.lastWords === 0) {
        const refusal = refusals.shift();
        if (refusal === undefined) one.sinks.at(-1)?.finished(DONE);
        else one.sinks.at(-1)?.failed(refusal);
      }
    }
    return one.requests.map((asked) => Object.entries(asked.choice ?? {}).flatMap(([name, value]) => (value == null ? [] : [name])));
  }

  test('an effort is known by Anthropic’s word for it as well', () => {
    const detail = 'status 400: output_config: Extra inputs are not permitted';
    assert.deepEqual(sentFor([{ effort: 'high' }], [{ kind: 'refused', detail }]), [['effort'], []]);
  });

  test('what one app was refused for changes nothing of how another is asked', () => {
    const [mine, other] = [{ temperature: 0.2 }, { temperature: 0.2 }];
    assert.deepEqual(sentFor([mine, mine, other], [REFUSED]), [['temperature'], [], [], ['temperature']]);
  });

  test('a word for it in a refusal for another reason is not learnt: without it there is no answer either', () => {
    const ofTool: ModelFailure = { kind: 'refused', detail: "status 400: Invalid schema for function 'set_temperature'" };
    assert.deepEqual(sentFor([choice, choice], [ofTool, ofTool]), [['temperature', 'effort'], ['effort'], ['temperature', 'effort']]);
  });

  test('a conversation that leaves no room for the longest answer is asked without a bound, and the next one with it', () => {
    const bounded = { max_output_tokens: 1_000 };
    for (const detail of [
      "'max_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens",
      'input length and `max_tokens` exceed context limit: 199500 + 1000 > 200000, decrease input length or `max_tokens` and try again',
      '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3500 `inputs` tokens and 1000 `max_new_tokens`',
    ])
      assert.deepEqual(sentFor([bounded, bounded], [{ kind: 'refused', detail }]), [['max_output_tokens'], [], ['max_output_tokens']]);
  });

  test('a refusal for another reason, one of what was not sent, and one after the first word end the round', () => {
    for (const [failure, asked, isHeard] of [
      [{ kind: 'refused', detail: 'status 400: the conversation is too long' }, choice, false],
      [REFUSED, { effort: 'low' }, false],
      [REFUSED, choice, true],
      [REFUSED, undefined, false],
    ] as const) {
      const one = told('one');
      const sink = new FallingSink();
      withFallbacks([one]).stream(request(asked === undefined ? {} : { choice: asked }), sink);
      if (isHeard) one.sinks[0]?.text('Well');
      one.sinks[0]?.failed(failure);
      assert.deepEqual([one.sinks.length, sink.lastWords], [1, 1]);
    }
  });
});
