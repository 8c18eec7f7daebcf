/** One block in whatever state it is: its words while it comes, its parts once it is there, and its fallback text where it cannot be drawn. */
import { Component, Fragment, type ReactNode, useState } from 'react';
import { Image, Pressable, ScrollView, View } from 'react-native';
import { type AnswerBlock, fallbackOf } from '../client/conversation/answer-blocks.ts';
import type { Call } from '../client/conversation/calls.ts';
import { type Answered, CardView, FormView, PickView } from './answers.tsx';
import { useScene } from './hooks.ts';
import { Button, Card, Picture, Row, TOUCH, useColours, Words } from './look.tsx';
import { COMPONENTS, type Part, type Press, partsOf } from './parts.ts';
import { Prose } from './prose.tsx';

/** Behind what is pressed, and in the place of what is on its way. */
const LEADS_ON = '›';
const COMES = '…';

function usePress(): (press: Press) => void {
  const { ask } = useScene();
  return (press) => {
    if (press.does === 'screen') ask.openScreen(press.target, press.params);
    else if (press.does === 'link') ask.openLink(press.target);
    else if (press.does === 'copy') ask.copy(press.target);
    else ask.say(press.target);
  };
}

function Fold({ title, md, isOpen: wasOpen }: Extract<Part, { kind: 'fold' }>) {
  const [isOpen, setOpen] = useState(wasOpen);
  return (
    <View style={{ gap: 8 }}>
      <Button label={`${isOpen ? '▾' : '▸'} ${title}`} onPress={() => setOpen(!isOpen)} />
      {isOpen ? <Prose md={md} /> : null}
    </View>
  );
}

function Item({ title, detail = '', mark, image, press }: Extract<Part, { kind: 'item' }>) {
  const follow = usePress();
  const words = (
    <View style={{ flexDirection: 'row', gap: 10, alignItems: 'center', minHeight: press === undefined ? 0 : TOUCH }}>
      {mark === undefined ? null : <Words is="muted">{mark}</Words>}
      {image === undefined ? null : (
        <Image source={{ uri: image.url }} accessibilityLabel={image.alt} style={{ width: 48, height: 48, borderRadius: 8 }} />
      )}
      <View style={{ flex: 1 }}>
        <Words>{title}</Words>
        {detail === '' ? null : <Words is="muted">{detail}</Words>}
      </View>
      {press === undefined ? null : <Words is="muted">{LEADS_ON}</Words>}
    </View>
  );
  if (press === undefined) return words;
  return (
    <Pressable accessibilityRole={press.does === 'link' ? 'link' : 'button'} accessibilityLabel={title} onPress={() => follow(press)}>
      {words}
    </Pressable>
  );
}

interface BlockState {
  readonly block: AnswerBlock;
  readonly answer: Answered | undefined;
  readonly call: Call | undefined;
}

type Ready = Extract<AnswerBlock, { phase: 'ready' }>['block'];

function PartView({ part, block, answer, call }: Omit<BlockState, 'block'> & { readonly part: Part; readonly block: Ready }): ReactNode {
  const follow = usePress();
  const { words, ask, app } = useScene();
  const { surfaceSunk: backgroundColor } = useColours();
  switch (part.kind) {
    case 'title':
      return <Words is={part.tone === 'danger' ? 'bad' : 'title'}>{part.text}</Words>;
    case 'words':
      return <Words is="muted">{part.text}</Words>;
    case 'code':
      return (
        <ScrollView horizontal style={{ backgroundColor, borderRadius: 8, padding: 10 }}>
          <Words is="code">{part.text}</Words>
        </ScrollView>
      );
    case 'prose':
      return <Prose md={part.md} />;
    case 'fold':
      return <Fold {...part} />;
    case 'item':
      return <Item {...part} />;
    case 'image':
      return <Picture image={part.image} />;
    case 'row': {
      const copies = part.copies === true && app.copy !== undefined;
      return (
        <View style={{ flexDirection: 'row', justifyContent: 'space-between', gap: 12 }}>
          <Words is="muted">{part.label}</Words>
          <View style={{ flexShrink: 1, alignItems: 'flex-end' }}>
            <Words {...(part.tone === 'danger' ? { is: 'bad' as const } : {})}>{part.value}</Words>
            {copies ? <Button label={words.copy} onPress={() => ask.copy(part.value)} /> : null}
          </View>
        </View>
      );
    }
    case 'tags':
      return (
        <Row>
          {part.items.map(({ label, tone }) => (
            <Words key={label} is={tone === 'danger' ? 'bad' : tone === 'success' ? 'good' : 'strong'}>
              {label}
            </Words>
          ))}
        </Row>
      );
    case 'buttons': {
      const shown = part.buttons.filter(({ does }) => does !== 'copy' || app.copy !== undefined);
      return (
        <Row>
          {shown.map((button) => (
            <Button
              key={button.label}
              label={button.label}
              style={button.style}
              role={button.does === 'link' ? 'link' : 'button'}
              onPress={() => follow(button)}
            />
          ))}
        </Row>
      );
    }
    case 'pick':
      return <PickView part={part} block={block} answer={answer} />;
    case 'form':
      return <FormView body={part.body} block={block} answer={answer} />;
    case 'card':
      return <CardView body={part.body} call={call} />;
  }
}

/** Without a frame around it. */
const OPEN = new Set(['text', 'section', 'quick_replies', 'actions', 'tags']);

function ReadyBlock({ block, answer, call }: Omit<BlockState, 'block'> & { readonly block: Ready }): ReactNode {
  const { words, locale } = useScene();
  const parts = partsOf(block.block_type, block.body, { words, locale });
  if (parts === undefined) return null;
  // Parts of one block keep their places: another revision has other words in them.
  const drawn = parts.map((part, at) => (
    <Fragment key={String(at)}>
      <PartView part={part} block={block} answer={answer} call={call} />
    </Fragment>
  ));
  return OPEN.has(block.block_type) ? (
    <View testID={block.block_type} style={{ gap: 8 }}>
      {drawn}
    </View>
  ) : (
    <Card type={block.block_type}>{drawn}</Card>
  );
}

export class BlockView extends Component<BlockState, { readonly broken?: AnswerBlock }> {
  override state: { readonly broken?: AnswerBlock } = {};

  /** Another state of a block that could not be drawn is tried again. */
  override componentDidCatch(): void {
    this.setState({ broken: this.props.block });
  }

  override render(): ReactNode {
    const { block, answer, call } = this.props;
    if (block.phase === 'announced')
      return block.blockType === 'text' ? <Prose md={block.text} isGrowing /> : <Words is="muted">{COMES}</Words>;
    const isDrawn = block.phase === 'ready' && this.state.broken !== block && COMPONENTS.includes(block.blockType);
    return isDrawn ? <ReadyBlock block={block.block} answer={answer} call={call} /> : <Words is="muted">{fallbackOf(block)}</Words>;
  }
}
