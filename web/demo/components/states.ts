/** The states in which a component is shown: those of its samples, and those that every component has. */
import type { Block } from '../../../protocol/catalog/block.ts';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import type { BlockState, ComponentName } from '../../sdk/blocks/block-view.ts';
import type { Sample } from './samples/sample.ts';
import { SAMPLES } from './samples/samples.ts';

type ShownState = Omit<BlockState, 'around'> & { readonly name: string };

function ready(name: string, type: string, body: Block['body'], more: Partial<Block> = {}): AnswerBlock & { readonly phase: 'ready' } {
  const id = `${type}-${name.replaceAll(/\W+/g, '-').toLowerCase()}`;
  return { phase: 'ready', index: 0, id, blockType: type, block: { index: 0, id, block_type: type, revision: 1, body, ...more } };
}

export function statesOf(type: ComponentName): readonly ShownState[] {
  const samples = SAMPLES[type] as readonly Sample<ComponentName>[];
  const shown = samples.map(({ name, body, answer, call }): ShownState => {
    return { name, block: ready(name, type, body), answer, call, isNewest: true };
  });
  const announced = { index: 0, id: `${type}-announced`, blockType: type, text: '' };
  const [first] = samples;
  const fallback = first === undefined ? '' : (CATALOG.get(type)?.fallback(first.body) ?? '');
  return [
    { name: 'Announced', block: { ...announced, phase: 'announced' }, isNewest: true },
    ...shown,
    // A build that does not know the component knows it by another name.
    { name: 'Fallback', block: ready('fallback', `${type}_later`, {}, { fallback_text: fallback }), isNewest: true },
    { name: 'Not arrived', block: { ...announced, phase: 'unfinished' }, isNewest: true },
  ];
}
