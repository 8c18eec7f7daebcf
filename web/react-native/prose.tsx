/** Markdown as native texts. What CommonMark says is read by the widget's parser; text stays text, pictures are their words, and links lead to https, mailto and tel alone. */
import { Fragment, type ReactNode, useRef } from 'react';
import { ScrollView, View } from 'react-native';
import { unsaidHost } from '../sdk/blocks/parts/unsaid-host.ts';
import { asWritten } from '../sdk/prose/as-written.ts';
import { GrowingBlocks, type TextBlock, type Token } from '../sdk/prose/parser.ts';
import { type Asks, useScene } from './hooks.ts';
import { Words } from './look.tsx';

const FOLLOWED = /^(?:https:\/\/[^\s/]|mailto:\S|tel:[+\d])/i;
/** A table of thousands of cells stays words beyond. */
const ELEMENTS_MAX = 2_000;

interface Open {
  readonly token: Token;
  /** Words and elements within a line. */
  inline: ReactNode[];
  /** What stands below one another. */
  readonly blocks: ReactNode[];
  words: string;
  /** The number of its next item, in a list. */
  next: number;
}

const opened = (token: Token): Open => ({ token, inline: [], blocks: [], words: '', next: Number(token.attrGet?.('start') ?? 1) });

/** Lines that stand open come before what stands below them. */
function flush(open: Open, is?: 'title'): void {
  if (open.inline.length > 0) open.blocks.push(<Words {...(is === undefined ? {} : { is })}>{keyed(open.inline)}</Words>);
  open.inline = [];
}

const keyed = (nodes: readonly ReactNode[]) => nodes.map((node, at) => <Fragment key={String(at)}>{node}</Fragment>);

const stacked = (nodes: readonly ReactNode[], style: Readonly<Record<string, unknown>> = {}) => (
  <View style={{ gap: 6, ...style }}>{keyed(nodes)}</View>
);

function closed(open: Open, parent: Open, ask: Asks): void {
  const { token, words } = open;
  const { tag, type } = token;
  parent.words += words;
  if (type === 'link_open') {
    const href = String(token.attrGet('href') ?? '');
    const host = unsaidHost(href, words);
    if (!FOLLOWED.test(href)) parent.inline.push(...open.inline);
    else
      parent.inline.push(
        <Words is="link" onPress={() => ask.openLink(href)}>
          {keyed(open.inline)}
          {host === undefined ? '' : ` (${host})`}
        </Words>,
      );
    return;
  }
  if (tag === 'strong' || tag === 'em' || tag === 's') {
    parent.inline.push(<Words is="strong">{keyed(open.inline)}</Words>);
    return;
  }
  if (tag === 'td' || tag === 'th') {
    parent.blocks.push(
      <View style={{ flex: 1, minWidth: 72 }}>
        {tag === 'th' ? <Words is="strong">{keyed(open.inline)}</Words> : <Words>{keyed(open.inline)}</Words>}
      </View>,
    );
    return;
  }
  flush(open, /^h\d$/.test(tag) ? 'title' : undefined);
  if (tag === 'tr') parent.blocks.push(<View style={{ flexDirection: 'row', gap: 8 }}>{keyed(open.blocks)}</View>);
  else if (tag === 'li') {
    const mark = parent.token.tag === 'ol' ? `${parent.next++}.` : '•';
    parent.blocks.push(
      <View style={{ flexDirection: 'row', gap: 8 }}>
        <Words>{mark}</Words>
        {stacked(open.blocks, { flex: 1 })}
      </View>,
    );
  } else parent.blocks.push(...(tag === 'blockquote' ? [stacked(open.blocks, { paddingStart: 12, borderStartWidth: 3 })] : open.blocks));
}

function leaf({ type, content, children }: Token, top: Open): void {
  if (type === 'fence' || type === 'code_block') {
    flush(top);
    top.blocks.push(
      <ScrollView horizontal>
        <Words is="code">{content.replace(/\n$/, '')}</Words>
      </ScrollView>,
    );
    return;
  }
  const text = type.endsWith('break') ? '\n' : type === 'image' ? (children ?? []).map((each) => each.content).join('') : content;
  const words = type === 'code_inline' || type === 'html_block' ? text : asWritten(text);
  top.words += words;
  top.inline.push(type === 'code_inline' ? <Words is="code">{words}</Words> : words);
}

function drawn({ tokens }: TextBlock, ask: Asks): ReactNode {
  const stack: Open[] = [opened(tokens[0] as Token)];
  let count = 0;
  let deeper = 0;
  const all = (each: readonly Token[]): void => {
    for (const token of each) {
      const top = stack.at(-1) as Open;
      if (token.type === 'inline') all(token.children ?? []);
      // Paragraphs of a list whose items stand close.
      else if (token.hidden) flush(top);
      else if (token.nesting > 0 && (deeper > 0 || ++count > ELEMENTS_MAX)) deeper += 1;
      else if (token.nesting > 0) {
        if (!/^(?:a|strong|em|s)$/.test(token.tag)) flush(top);
        stack.push(opened(token));
      } else if (token.nesting < 0 && deeper > 0) deeper -= 1;
      else if (token.nesting < 0) closed(stack.pop() as Open, stack.at(-1) as Open, ask);
      else leaf(token, top);
    }
  };
  all(tokens);
  const [root] = stack as [Open];
  flush(root);
  return stacked(root.blocks);
}

/** Blocks that are closed stay as they were drawn while the text grows. */
export function Prose({ md, isGrowing = false }: { readonly md: string; readonly isGrowing?: boolean }) {
  const { ask } = useScene();
  const held = useRef({ text: new GrowingBlocks(), nodes: new WeakMap<TextBlock, ReactNode>() });
  if (!held.current.text.goesOnTo(md)) held.current.text = new GrowingBlocks();
  const { text, nodes } = held.current;
  const blocks = text.read(md, isGrowing).map((block) => {
    const node = nodes.get(block) ?? drawn(block, ask);
    nodes.set(block, node);
    return node;
  });
  return stacked(blocks, { gap: 10 });
}
