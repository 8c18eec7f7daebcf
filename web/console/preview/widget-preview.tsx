/** The widget as people will see it: the SDK's own drawing and styles in a shadow root, of a configuration that changes as somebody types. */
import { h, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { appearanceOf } from '../../sdk/appearance.ts';
import { widgetSheets } from '../../sdk/look/sheets.ts';
import type { Scene } from '../../sdk/scene.ts';
import { Frame, Launcher } from '../../sdk/shell/frame.tsx';
import { previewScene, SAMPLE_QUESTION } from './preview-scene.ts';

const PLACE_CSS = `
  .contents { display: flex; flex-direction: column; gap: 12px; block-size: 100%; }
  .place { flex: 1; min-block-size: 0; display: grid; }
  .launcher-place { position: relative; flex: none; block-size: 60px; font: 400 calc(14.5px * var(--scale)) / 1.5 var(--font); }
  .launcher-place .launcher { inset-block-end: 2px; inset-inline-end: 2px; }
  .launcher-place.is-start .launcher { inset-inline: 2px auto; }
`;

interface WidgetPreviewProps {
  readonly configuration: object;
  readonly scheme: 'light' | 'dark';
  readonly shows: 'welcome' | 'thread';
  readonly logo?: () => Promise<Blob | undefined>;
}

function drawIn(host: HTMLElement, root: ShadowRoot, scene: Scene, { configuration, scheme }: WidgetPreviewProps): void {
  for (const name of [...host.style].filter((each) => each.startsWith('--'))) host.style.removeProperty(name);
  const { properties, launcherAt } = appearanceOf(configuration);
  for (const [name, value] of Object.entries(properties)) host.style.setProperty(name, value);
  host.dataset.scheme = scheme;
  const launcher = h('div', { class: `launcher-place is-${launcherAt}` }, h(Launcher, { scene, isOpen: false }));
  render(h('div', { class: 'contents' }, [h('div', { class: 'place' }, h(Frame, { scene })), launcher]), root);
}

const NO_LOGO = () => Promise.resolve(undefined);

export function WidgetPreview(props: WidgetPreviewProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const scene = useRef<Scene | undefined>(undefined);
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    // Its styles tell a widget that stands in a page by this.
    host.setAttribute('inline', '');
    const root = host.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = widgetSheets(PLACE_CSS);
    const made = previewScene(
      () => latest.current.configuration,
      () => (latest.current.logo ?? NO_LOGO)(),
    );
    scene.current = made;
    return () => {
      render(null, root);
      void made.assistant.close();
    };
  }, []);
  useEffect(() => {
    const host = place.current;
    const root = host?.shadowRoot;
    if (host === null || root == null || scene.current === undefined) return;
    drawIn(host, root, scene.current, props);
  });
  const { shows } = props;
  useEffect(() => {
    const { assistant } = scene.current ?? {};
    if (assistant === undefined) return;
    let isOver = false;
    void assistant.ready.then(() => {
      if (isOver) return;
      if (shows === 'thread') assistant.conversation.say(SAMPLE_QUESTION);
      else if (assistant.conversation.store.get().context.turns.length > 0) assistant.open();
    });
    return () => {
      isOver = true;
    };
  }, [shows]);
  return <div ref={place} class="widget-preview" />;
}
