/** The preview beside a form, with what it shows in the address. */
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { SideBySide } from '../parts/choices.tsx';
import { replaceAddress } from '../shell/address.ts';
import { WidgetPreview } from './widget-preview.tsx';

const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;
const SHOWN = [
  ['welcome', 'Welcome'],
  ['thread', 'Thread'],
] as const;

interface PreviewCardProps {
  readonly configuration: object;
  readonly logo?: () => Promise<Blob | undefined>;
}

export function PreviewCard({ configuration, logo }: PreviewCardProps) {
  const { query } = useRoute();
  const [scheme, setScheme] = useState<'light' | 'dark'>(query.scheme === 'dark' ? 'dark' : 'light');
  const [shows, setShows] = useState<'welcome' | 'thread'>(query.shows === 'thread' ? 'thread' : 'welcome');
  return (
    <section class="card preview-card" aria-label="Preview">
      <h2>
        Preview <small>the widget itself; nothing is sent</small>
      </h2>
      <div class="preview-choices row">
        <SideBySide
          label="Colour scheme"
          value={scheme}
          options={SCHEMES}
          onChange={(to) => {
            setScheme(to);
            replaceAddress({ scheme: to === 'light' ? undefined : to });
          }}
        />
        <SideBySide
          label="What it shows"
          value={shows}
          options={SHOWN}
          onChange={(to) => {
            setShows(to);
            replaceAddress({ shows: to === 'welcome' ? undefined : to });
          }}
        />
      </div>
      <div class={`preview-page is-${scheme}`}>
        <WidgetPreview configuration={configuration} scheme={scheme} shows={shows} {...(logo === undefined ? {} : { logo })} />
      </div>
    </section>
  );
}
