/** Draws one block in whatever state it is (BLOCKVIEW-2): skeleton, drawing, or fallback text. */
import { Component, type ComponentType } from 'preact';
import type { Block } from '../../../protocol/catalog/block.ts';
import { fallbackOf } from '../../client/conversation/answer-blocks.ts';
import type { BlockProps, BlockState, BodyOf, ComponentName } from './block-view.ts';
import { Own } from './own-drawings.tsx';
import { Skeleton } from './parts/skeleton.tsx';
import { BLOCK_VIEWS } from './views.ts';

function viewOf(type: string): ComponentType<Omit<BlockProps<ComponentName>, 'body'> & { readonly body: Block['body'] }> | undefined {
  // The body is what the service's schema for this type has let through.
  return Object.hasOwn(BLOCK_VIEWS, type) ? (BLOCK_VIEWS[type as ComponentName] as unknown as ReturnType<typeof viewOf>) : undefined;
}

function Fallback({ text }: { readonly text: string }) {
  return text === '' ? null : <p class="fallback">{text}</p>;
}

function Ready({ block, answer, call, isNewest, around }: Omit<BlockState, 'block'> & { readonly block: Block }) {
  const View = viewOf(block.block_type);
  if (View === undefined) return null;
  const drawn = <View block={block} body={block.body} answer={answer} call={call} isNewest={isNewest} around={around} />;
  const { places } = around;
  const draw = places?.drawings.get(block.block_type);
  if (places === undefined || draw === undefined) return drawn;
  const props = { block, body: block.body as BodyOf<ComponentName>, answer, call, isNewest, around };
  return (
    <Own own={places} draw={draw} props={props}>
      {drawn}
    </Own>
  );
}

export class BlockDrawing extends Component<BlockState, { readonly broken?: BlockState['block'] | undefined }> {
  override state: { readonly broken?: BlockState['block'] | undefined } = {};

  override componentDidCatch(): void {
    this.setState({ broken: this.props.block });
  }

  /** Of a text, whatever its state: what is drawn of it goes on when it is complete. */
  #textOf(block: BlockState['block']): string {
    if (block.blockType !== 'text' || this.state.broken === block) return '';
    return block.phase === 'ready' ? (block.block.body as BodyOf<'text'>).md : block.text;
  }

  /** Another state of a block that could not be drawn is tried again. */
  #content() {
    const { block, around, ...others } = this.props;
    const md = this.#textOf(block);
    const isOwn = block.phase === 'ready' && around.places?.drawings.has('text') === true;
    if (md !== '' && !isOwn) return <around.Prose md={md} isGrowing={block.phase === 'announced'} />;
    if (block.phase === 'announced') return <Skeleton type={block.blockType} label={around.words.loading} />;
    const isDrawn = block.phase === 'ready' && viewOf(block.blockType) !== undefined && this.state.broken !== block;
    return isDrawn ? <Ready block={block.block} around={around} {...others} /> : <Fallback text={fallbackOf(block)} />;
  }

  override render() {
    const { block } = this.props;
    const label = block.phase === 'ready' ? block.block.a11y_label : undefined;
    const group = label === undefined || label === '' ? {} : { role: 'group' as const, 'aria-label': label };
    return (
      <div class="block" data-type={block.blockType} {...group}>
        {this.#content()}
      </div>
    );
  }
}
