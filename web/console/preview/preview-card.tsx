/** The preview beside a form, with what it shows in the address. */
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { replaceAddress } from '../shell/address.ts';
import { WidgetPreview } from './widget-preview.tsx';

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value} class="choice-part">
          <input type="radio" name={label} checked={option.value === value} onChange={() => onChange(option.value)} />
          {option.label}
        </label>
      ))}
    </div>
  );
}

export interface PreviewCardProps {
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
        <Choice
          label="Colour scheme"
          value={scheme}
          options={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={(to) => {
            setScheme(to);
            replaceAddress({ scheme: to === 'light' ? undefined : to });
          }}
        />
        <Choice
          label="What it shows"
          value={shows}
          options={[
            { value: 'welcome', label: 'Welcome' },
            { value: 'thread', label: 'Thread' },
          ]}
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
