import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import { Refusal } from '../../../protocol/errors.ts';
import { FONT_FAMILY_MAX_CHARS as FONT_MAX } from '../../../protocol/limits.ts';
import { acceptDraft } from '../../../protocol/setup/accept.ts';
import { appearanceBody } from '../../../protocol/setup/appearance.ts';
import { judgeKnowledgeItem, knowledgeBody } from '../../../protocol/setup/knowledge.ts';
import { completePersona, DEFAULT_PERSONA, experiencePatch } from '../../../protocol/setup/persona.ts';

const THEME = { surface: '#ffffff', onSurface: '#111111', accent: '#0044CC', onAccent: '#ffffff' };

function refusal(run: () => unknown): [string, number, string] {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return [error.code, error.status, error.details?.[0]?.path ?? ''];
  }
  throw new assert.AssertionError({ message: 'nothing was refused' });
}

const appearance = (body: unknown) => refusal(() => acceptDraft(appearanceBody, body, 'invalid_appearance'));
const experience = (body: unknown) => refusal(() => acceptDraft(experiencePatch, body, 'invalid_experience'));

test('SETUP-26, SETUP-28: an unknown field and a wrong shape are 400 and named, a refused value is 422 and named', () => {
  assert.deepEqual(appearance({ theme: THEME, colour: 1 }), ['invalid_body', 400, 'colour']);
  assert.deepEqual(appearance({ theme: { ...THEME, glow: 1 } }), ['invalid_body', 400, 'theme.glow']);
  assert.deepEqual(appearance({}), ['invalid_body', 400, 'theme']);
  assert.deepEqual(appearance({ theme: { ...THEME, radius: '8' } }), ['invalid_body', 400, 'theme.radius']);
  assert.deepEqual(appearance({ theme: { ...THEME, radius: 33 } }), ['invalid_appearance', 422, 'theme.radius']);
  assert.deepEqual(appearance({ theme: { ...THEME, style: 'shiny' } }), ['invalid_appearance', 422, 'theme.style']);
  assert.deepEqual(experience({ name: 'Ada' }), ['invalid_body', 400, 'name']);
  assert.deepEqual(experience({ topics: 'none' }), ['invalid_body', 400, 'topics']);
  assert.deepEqual(experience({ assistantName: 'x'.repeat(41) }), ['invalid_experience', 422, 'assistantName']);
});

test('APPEARANCE-1: the four colours come together and are opaque #rrggbb', () => {
  for (const name of Object.keys(THEME)) {
    const { [name as keyof typeof THEME]: _, ...rest } = THEME;
    assert.deepEqual(appearance({ theme: rest }), ['invalid_appearance', 422, `theme.${name}`]);
  }
  for (const colour of ['#fff', '#ffffff80', 'red', 'ffffff', '#gggggg', ' #ffffff']) {
    assert.deepEqual(appearance({ theme: { ...THEME, accent: colour } }), ['invalid_appearance', 422, 'theme.accent']);
  }
  assert.ok(v.is(appearanceBody, { theme: THEME, themeDark: { accent: '#88aaff' }, copilot: { launcherLabel: 'Ask', feedback: true } }));
});

test('APPEARANCE-1: a font family cannot carry markup or style', () => {
  for (const fontFamily of ['Inter; color: red', 'x}', 'url(a)', '<b>', 'a\\', '']) {
    assert.equal(v.is(appearanceBody, { theme: { ...THEME, fontFamily } }), false, fontFamily);
  }
  assert.ok(v.is(appearanceBody, { theme: { ...THEME, fontFamily: `"Söhne Breit", 'Noto-Sans', serif` } }));
});

test('PERSONA-3: each guardrail starts with Always or Never; blank lines are let by', () => {
  assert.ok(v.is(experiencePatch, { guardrails: 'Always ask first.\n\nNever promise refunds.' }));
  for (const guardrails of ['Be nice.', 'Always ask.\nbut not twice', 'Nevertheless, no.']) {
    assert.deepEqual(experience({ guardrails }), ['invalid_experience', 422, 'guardrails'], guardrails);
  }
});

test('PERSONA-4: each field of the persona takes a value at its bound, and the next larger one is refused by name', () => {
  const texts = { assistantName: 40, tone: 4_000, instructions: 4_000, welcomeTitle: 80, welcomeBody: 160, reason: 1_000 };
  const lists = { topics: [20, 120], suggestions: [4, 60], languages: [12, 2] } as const;
  const distinct = (many: number, chars: number) => Array.from({ length: many }, (_, at) => String.fromCharCode(97 + at).repeat(chars));
  for (const [field, chars] of Object.entries(texts)) {
    assert.ok(v.is(experiencePatch, { [field]: 'x'.repeat(chars) }), field);
    assert.deepEqual(experience({ [field]: 'x'.repeat(chars + 1) }), ['invalid_experience', 422, field]);
  }
  assert.ok(v.is(experiencePatch, { guardrails: `Never ${'x'.repeat(3_994)}` }));
  assert.deepEqual(experience({ guardrails: `Never ${'x'.repeat(3_995)}` }), ['invalid_experience', 422, 'guardrails']);
  for (const [field, [many, chars]] of Object.entries(lists)) {
    assert.ok(v.is(experiencePatch, { [field]: distinct(many, chars) }), field);
    for (const wrong of [distinct(many + 1, chars), [...distinct(1, chars), ...distinct(1, chars)]]) {
      assert.deepEqual(experience({ [field]: wrong }), ['invalid_experience', 422, field]);
    }
  }
  assert.deepEqual(experience({ topics: ['x'.repeat(121)] }), ['invalid_experience', 422, 'topics[0]']);
});

test('APPEARANCE-11: each token and label takes a value at its bound, and no other', () => {
  const words = { spacing: ['cosy'], style: ['outlined'], launcherPosition: ['end'] };
  const taken = { ...words, radius: [0, 32], fontScale: [0.8, 1.4], fontFamily: ['x', 'x'.repeat(FONT_MAX)] };
  const others = { spacing: ['wide'], style: ['shiny'], launcherPosition: ['top'] };
  const refused = { ...others, radius: [-1, 33], fontScale: [0.79, 1.41], fontFamily: ['', 'x'.repeat(FONT_MAX + 1)] };
  for (const [token, values] of Object.entries(taken)) {
    for (const value of values) assert.ok(v.is(appearanceBody, { theme: { ...THEME, [token]: value } }), `${token} ${value}`);
  }
  for (const [token, values] of Object.entries(refused)) {
    for (const value of values)
      assert.deepEqual(appearance({ theme: { ...THEME, [token]: value } }), ['invalid_appearance', 422, `theme.${token}`]);
  }
  for (const [label, chars] of Object.entries({ launcherLabel: 24, composerHint: 60 })) {
    assert.ok(v.is(appearanceBody, { theme: THEME, copilot: { [label]: 'x'.repeat(chars) } }), label);
    const long = { [label]: 'x'.repeat(chars + 1) };
    assert.deepEqual(appearance({ theme: THEME, copilot: long }), ['invalid_appearance', 422, `copilot.${label}`]);
  }
  assert.deepEqual(appearance({ theme: THEME, copilot: { sendIcon: 'bomb' } }), ['invalid_appearance', 422, 'copilot.sendIcon']);
});

test('SETUP-31: limits count characters, not UTF-16 units', () => {
  assert.ok(v.is(experiencePatch, { assistantName: '😀'.repeat(40), suggestions: ['😀'.repeat(60)] }));
  assert.equal(v.is(experiencePatch, { suggestions: ['😀'.repeat(61)] }), false);
  assert.equal(v.is(experiencePatch, { suggestions: ['a', 'b', 'c', 'd', 'e'] }), false);
  assert.equal(v.is(experiencePatch, { topics: ['a', 'a'] }), false);
});

test('PERSONA-1: a name that was taken back becomes the default one again', () => {
  assert.deepEqual(completePersona({}), DEFAULT_PERSONA);
  assert.equal(completePersona({ assistantName: ' ' }).assistantName, 'Assistant');
});

test('SETUP-32: any JSON is either accepted whole or refused as 400 or 422, and what is accepted is accepted again', () => {
  const names = ['theme', 'themeDark', 'copilot', 'reason', 'assistantName', 'guardrails', 'topics', 'languages', 'suggestions'];
  const body = fc.oneof(fc.dictionary(fc.constantFrom(...names), fc.jsonValue()), fc.jsonValue());
  const token = fc.dictionary(fc.constantFrom('radius', 'style', 'fontFamily', 'accent', 'spacing', 'x'), fc.jsonValue());
  const themed = token.map((more) => ({ theme: { ...THEME, ...more } }));
  fc.assert(
    fc.property(fc.oneof(body, themed), (input) => {
      for (const [schema, code] of [
        [appearanceBody, 'invalid_appearance'],
        [experiencePatch, 'invalid_experience'],
      ] as const) {
        try {
          const accepted = acceptDraft(schema, input, code);
          assert.deepEqual(acceptDraft(schema, accepted, code), accepted);
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error));
          assert.equal(error.status, error.code === code ? 422 : 400);
          assert.ok((error.details?.length ?? 0) > 0);
        }
      }
    }),
    { numRuns: 400 },
  );
});

test('KNOWLEDGE-2: each of the three forms is recognised', () => {
  const text = { external_key: 'a', kind: 'text', title: 'T', content: 'C', reason: 'r' };
  assert.equal(judgeKnowledgeItem(text).form, 'text');
  assert.equal(judgeKnowledgeItem({ external_key: 'a', kind: 'url', uri: 'https://example.com/a' }).form, 'link');
  assert.equal(judgeKnowledgeItem({ external_key: 'a', op: 'archive' }).form, 'archive');
});

test('SETUP-29: an item that cannot be taken says which field is wrong', () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ kind: 'pdf' }, /^kind /],
    [{}, /^kind is required/],
    [{ op: 'delete' }, /^op /],
    [{ kind: 'text', title: 'T' }, /^content is required/],
    [{ kind: 'text', title: ' ', content: 'C' }, /^title /],
    [{ kind: 'text', title: 'T', content: 'x'.repeat(200_001) }, /^content must be at most 200000/],
    [{ kind: 'text', title: 'T', content: 'C', uri: 'https://a.example' }, /^uri is not a field/],
    [{ kind: 'url', uri: 'ftp://a.example' }, /^uri /],
    [{ op: 'archive', content: 'C' }, /^content is not a field/],
    [{ kind: 'text' }, /^title is required; content is required$/],
    [{ kind: 'text', uri: 'x' }, /^title is required; content is required; uri is not a field of this request$/],
  ];
  for (const [fields, error] of cases) {
    const judged = judgeKnowledgeItem({ external_key: 'a', ...fields });
    assert.ok(judged.form === 'refused', JSON.stringify(fields));
    assert.match(judged.error, error);
  }
});

test('KNOWLEDGE-2: the body is 1 to 25 items and refuses unknown fields', () => {
  const item = { external_key: 'a', kind: 'text', title: 'T', content: 'C' };
  assert.ok(v.is(knowledgeBody, { items: Array(25).fill(item) }));
  for (const body of [{ items: [] }, { items: Array(26).fill(item) }, { items: [{ ...item, url: 'x' }] }, { items: [item], more: 1 }]) {
    assert.equal(v.is(knowledgeBody, body), false);
  }
});
