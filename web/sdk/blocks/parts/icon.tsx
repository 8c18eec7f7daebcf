/** Small pictures, drawn with lines in the colour of the text beside them. They say nothing that words do not say as well. */
import type { TagsBlock } from '../../../../types/assistant-runtime.d.ts';

// By themselves: what is there from the beginning needs no others.
export const CHECK = 'M5 12.5l4.5 4.5L19 7.5';
export const COPY = 'M9 9h10v10H9zM5 15V5h10';

const LINES = {
  check: CHECK,
  cross: 'M6 6l12 12M18 6L6 18',
  dash: 'M7 12h10',
  plus: 'M12 6v12M6 12h12',
  next: 'M9 6l6 6-6 6',
  down: 'M6 9l6 6 6-6',
  out: 'M9 7h8v8M17 7L7 17',
  copy: COPY,
  call: 'M6 4h3l2 5-2.2 1.6a11 11 0 0 0 4.6 4.6L15 13l5 2v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2z',
  email: 'M4 6h16v12H4zM4 7l8 6 8-6',
  chat: 'M5 5h14v11H10l-5 4z',
  url: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  pin: 'M12 21s7-6.2 7-11.5A7 7 0 0 0 5 9.5C5 14.8 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8v.01',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.01',
  screen: 'M5 4h14v16H5zM5 9h14',
  truck: 'M3 6h11v10H3zM14 10h4l3 3v3h-7M7 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM17 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  card: 'M3 6h18v12H3zM3 10h18',
  box: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  star: 'M12 4l2.5 5.2 5.7.8-4.1 4 1 5.7-5.1-2.7-5.1 2.7 1-5.7-4.1-4 5.7-.8z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  edit: 'M5 19l1-4L16 5l3 3L9 18z',
} as const;

export type IconName = keyof typeof LINES;

const OTHER_NAMES: Readonly<Record<string, IconName>> = {
  shipping: 'truck',
  delivery: 'truck',
  payment: 'card',
  price: 'card',
  package: 'box',
  returns: 'box',
  location: 'pin',
  map: 'pin',
  time: 'clock',
  calendar: 'clock',
  phone: 'call',
  mail: 'email',
  link: 'url',
  security: 'lock',
  help: 'info',
};

export function iconOf(name: string): IconName | undefined {
  const key = name.toLowerCase();
  if (Object.hasOwn(LINES, key)) return key as IconName;
  return Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : undefined;
}

/** A picture of lines. `class` stands beside `icon`. */
export function Glyph({ path, class: className = '' }: { readonly path: string; readonly class?: string }) {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export function Icon({ name, class: className = '' }: { readonly name: IconName; readonly class?: string }) {
  return <Glyph path={LINES[name]} class={className} />;
}

export function StepMark({ state }: { readonly state: string }) {
  return (
    <span class="step" aria-hidden="true">
      {state === 'done' ? <Icon name="check" /> : state === 'failed' ? <Icon name="cross" /> : null}
    </span>
  );
}

type Tone = NonNullable<TagsBlock['body']['items'][number]['tone']>;

const ICONS: Readonly<Record<Tone, IconName>> = { neutral: 'info', info: 'info', success: 'check', warning: 'warning', danger: 'warning' };

export function toneIcon(tone: Tone): IconName {
  return ICONS[tone] ?? 'info';
}
