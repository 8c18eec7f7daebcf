import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createToolsets, type ToolsetInput } from '../../assistant/toolset.ts';
import { SEARCH_KNOWLEDGE } from '../../protocol/catalog/catalog.ts';
import { completeManifest } from '../../protocol/runtime/manifest.ts';

function manifest(hash: string, ...names: string[]) {
  const actions = names.map((name) => ({ name, description: `Does ${name}.` }));
  return { hash, document: completeManifest({ version: '1', actions, routes: [{ name: 'orders', title: 'Orders' }] }) };
}

const BARE: ToolsetInput = { components: [], actionKinds: [], manifest: undefined, http: undefined, hasKnowledge: false };

function offered(input: Partial<ToolsetInput>): string[] {
  return createToolsets()({ ...BARE, ...input }).definitions.map(({ kind, name }) => `${kind} ${name}`);
}

describe('MODEL-1: the model is offered what the client draws, what the app can do, and knowledge', () => {
  test('nothing known, nothing offered', () => {
    assert.deepEqual(offered({}), []);
  });

  test('components of the handshake only; a name this server does not know is no error', () => {
    assert.deepEqual(offered({ components: ['tags', 'hologram', 'key_points@1', 'tags', 'Not A Name'] }), [
      'component tags',
      'component key_points',
    ]);
  });

  test('MODEL-2: text and confirm_card are drawn and never called', () => {
    const toolset = createToolsets()({ ...BARE, components: ['text', 'confirm_card', 'tags'] });
    assert.deepEqual([...toolset.components], ['text', 'confirm_card', 'tags']);
    assert.deepEqual(
      toolset.definitions.map(({ name }) => name),
      ['tags'],
    );
  });

  test('actions and routes come from the manifest, knowledge only when there is some', () => {
    assert.deepEqual(offered({ manifest: manifest('h1', 'find_order'), http: undefined, hasKnowledge: true }), [
      'action find_order',
      `knowledge ${SEARCH_KNOWLEDGE}`,
    ]);
    const toolset = createToolsets()({ ...BARE, manifest: manifest('h1', 'find_order') });
    assert.deepEqual([...toolset.routes.keys()], ['orders']);
    assert.equal(toolset.actions.get('find_order')?.risk, 'read');
  });

  test('MODEL-30: an action that rows of an earlier release name as a tool of the service takes no tool away', () => {
    const names = offered({ components: ['tags'], manifest: manifest('h1', 'tags', SEARCH_KNOWLEDGE, 'find_order'), hasKnowledge: true });
    assert.deepEqual(names, ['component tags', 'action find_order', `knowledge ${SEARCH_KNOWLEDGE}`]);
  });

  test('the same build and manifest get the same toolset, another manifest another', () => {
    const toolsets = createToolsets();
    const input = { ...BARE, components: ['text', 'tags'], manifest: manifest('h1', 'find_order') };
    const first = toolsets(input);
    assert.equal(toolsets({ ...input, components: [...input.components] }), first);
    assert.notEqual(toolsets({ ...input, manifest: manifest('h2', 'find_order') }), first);
    assert.notEqual(toolsets({ ...input, hasKnowledge: true }), first);
    assert.notEqual(toolsets({ ...input, components: ['text'] }), first);
  });

  test('MODEL-36: the search says which languages the knowledge seems to be written in', () => {
    const toolsets = createToolsets();
    const said = (languages: readonly string[]) => toolsets({ ...BARE, hasKnowledge: true, languages }).definitions[0]?.description ?? '';
    assert.match(said(['English']), /seems to be written in English: search in that language, and in the person's own\./);
    assert.match(said(['German', 'French']), /written in German, French: search in these languages, and/);
    assert.match(said([]), /may be written in another language/);
  });

  test('every definition is an object schema with a description', () => {
    const toolset = createToolsets()({
      components: ['choice', 'form'],
      actionKinds: [],
      manifest: manifest('h1', 'find_order'),
      http: undefined,
      hasKnowledge: true,
    });
    assert.equal(toolset.definitions.length, 4);
    for (const { description, parameters } of toolset.definitions) {
      assert.notEqual(description, '');
      assert.equal(parameters.type, 'object');
    }
  });
});
