/** A message as the person saw it: drawn by the SDK, in a shadow root with the SDK's styles. Personal data stands as placeholders. */
import { h, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Message } from '../../../protocol/console/answers.ts';
import blocksCss from '../../sdk/look/blocks.css';
import tokensCss from '../../sdk/look/tokens.css';
import widgetCss from '../../sdk/look/widget.css';
import type { Scene } from '../../sdk/scene.ts';
import { Answer } from '../../sdk/thread/answer.tsx';
import { Said } from '../../sdk/thread/message.tsx';
import { previewScene } from '../preview/preview-scene.ts';

const PLACE_CSS = `
  :host { display: block !important; }
  .message { font: 400 calc(14.5px * var(--scale)) / 1.5 var(--font); color: var(--ink); display: grid; }
`;

let scene: Scene | undefined;
let sheets: CSSStyleSheet[] | undefined;

function sharedScene(): Scene {
  scene ??= previewScene(
    () => ({}),
    () => Promise.resolve(undefined),
  );
  return scene;
}

function sharedSheets(): CSSStyleSheet[] {
  sheets ??= [tokensCss, blocksCss, widgetCss, PLACE_CSS].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  return sheets;
}

function wordsOf({ blocks }: Message): string {
  return blocks.flatMap(({ body, fallback_text: fallback }) => (typeof body.md === 'string' ? body.md : (fallback ?? []))).join('\n');
}

function drawn(message: Message) {
  const { around, words } = sharedScene();
  if (message.role === 'user') {
    const files = (message.attachments ?? []).map(({ media_type: type, size }) => `${type}, ${size.toLocaleString('en')} bytes`);
    return h(Said, { text: wordsOf(message), files, label: words.you });
  }
  const blocks = message.blocks.map((block) => ({
    phase: 'ready' as const,
    index: block.index,
    id: block.id,
    blockType: block.block_type,
    block,
  }));
  return h('article', { class: 'answer' }, h(Answer, { blocks, around, answers: new Map(), calls: [], isNewest: false }));
}

export function MessageDrawing({ message }: { readonly message: Message }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = sharedSheets();
    render(h('div', { class: 'message' }, drawn(message)), root);
    return () => render(null, root);
  }, [message]);
  return <div ref={place} class="message-drawing" />;
}
