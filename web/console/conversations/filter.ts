/** Which conversations the list shows: as the address of the page says it, and as the interface is asked for it. */

/** Parameters of the page's address that choose; `since` is a span up to now, `from` and `to` are moments in UTC. */
export const CHOICES = ['words', 'since', 'from', 'to', 'state', 'rating', 'channel'] as const;

export type Choices = Readonly<Partial<Record<(typeof CHOICES)[number], string>>>;

export const SPANS: readonly { readonly value: string; readonly label: string; readonly ms: number }[] = [
  { value: '1h', label: 'in the last hour', ms: 3_600_000 },
  { value: '24h', label: 'in the last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'in the last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: 'in the last 30 days', ms: 30 * 86_400_000 },
];

/** States in which the newest turn of a conversation can stay for a while; `new` and `continued` pass at once. */
export const STATES = ['completed', 'failed', 'awaiting_confirmation', 'awaiting_tool_results', 'answering', 'working'] as const;

export function choicesOf(query: Readonly<Record<string, string>>): Choices {
  return Object.fromEntries(CHOICES.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));
}

export function questionOf({ since, ...choices }: Choices, nowMs: number): string {
  const span = SPANS.find(({ value }) => value === since);
  const from = span === undefined ? choices.from : new Date(nowMs - span.ms).toISOString();
  const asked = Object.entries({ ...choices, from });
  return asked.map(([name, value]) => (value === undefined ? '' : `&${name}=${encodeURIComponent(value)}`)).join('');
}

export function addressWith(base: string, choices: Choices): string {
  const query = CHOICES.flatMap((name) => {
    const value = choices[name] ?? '';
    return value === '' ? [] : [`${name}=${encodeURIComponent(value)}`];
  }).join('&');
  return query === '' ? base : `${base}?${query}`;
}

/** The moment as a field for local times holds it, `2026-11-23T14:03`; '' for none and for what is no time. */
export function localOf(moment: string | undefined): string {
  const at = new Date(moment ?? '');
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The moment that such a field means; undefined while it is not filled in. */
export function momentIn(local: string): string | undefined {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
