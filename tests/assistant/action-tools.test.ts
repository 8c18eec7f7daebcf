/** What a manifest's actions put into each request of a turn is bounded, and the model can still call every one of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { actionTools } from '../../assistant/toolset.ts';
import { completeManifest, type ManifestAction } from '../../protocol/runtime/manifest.ts';

const MAX_CHARS = 60_000;
const charsOf = (value: unknown) => JSON.stringify(value).length;

/** `words` characters in each description, `values` allowed values for each of `params` parameters. */
function manifestOf(actions: number, params: number, words: number, values: number): readonly ManifestAction[] {
  const description = 'w"'.repeat(words / 2);
  const param = {
    type: 'string' as const,
    description,
    ...(values === 0 ? {} : { enum: Array.from({ length: values }, (_, n) => `value ${n}`) }),
  };
  const made = Array.from({ length: actions }, (_, n) => ({
    name: `act_${n}`,
    description: `Does. ${description}`,
    params: Object.fromEntries(Array.from({ length: params }, (_, at) => [`p${at}`, { ...param, required: at === 0 }])),
  }));
  return completeManifest({ version: '1', actions: made, routes: [] }).actions;
}

const namesOf = (tools: ReturnType<typeof actionTools>) =>
  tools.map(({ name, parameters }) => {
    const { properties, required } = parameters as { properties: Record<string, { type: string }>; required: string[] };
    return [name, Object.entries(properties).map(([param, { type }]) => `${param} ${type}`), required];
  });

test('MODEL-3: a stranger’s manifest of 100 actions with 20 wordy parameters each: names and types stay, and no more', () => {
  const actions = manifestOf(100, 20, 400, 30);
  const tools = actionTools(actions);
  const bare = actionTools(manifestOf(100, 20, 0, 0));
  assert.deepEqual(namesOf(tools), namesOf(bare));
  assert.equal(charsOf(tools), charsOf(bare.map((tool) => ({ ...tool, description: '' }))));
});

test('MODEL-3: of what fits nothing is left out', () => {
  const actions = manifestOf(5, 4, 200, 10);
  const [tool] = actionTools(actions);
  assert.equal(tool?.description, actions[0]?.description);
  assert.match(JSON.stringify(tool?.parameters), /"value 9"/);
});

test('MODEL-3: whatever a manifest declares, its definitions are 60,000 characters at most, or what names and types alone come to', () => {
  const shape = fc.tuple(
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: 0, max: 20 }),
    fc.integer({ min: 0, max: 490 }),
    fc.integer({ min: 0, max: 50 }),
  );
  fc.assert(
    fc.property(shape, ([count, params, words, values]) => {
      const actions = manifestOf(count, params, words, values);
      const tools = actionTools(actions);
      const types = tools.map((tool) => ({
        ...tool,
        description: '',
        parameters: actionTools(manifestOf(1, params, 0, 0))[0]?.parameters,
      }));
      assert.deepEqual(namesOf(tools), namesOf(types as typeof tools));
      assert.ok(charsOf(tools) - count - 1 <= Math.max(MAX_CHARS, charsOf(types)));
    }),
    { numRuns: 60 },
  );
});
