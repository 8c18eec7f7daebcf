/** A state of a component that the page of components shows. Bodies pass the catalog's validators (DEMO-3). */
import type { BlockAnswer, BlockProps, BodyOf, ComponentName } from '../../../sdk/blocks/block-view.ts';

export interface Sample<K extends ComponentName> {
  readonly name: string;
  readonly body: BodyOf<K>;
  readonly answer?: BlockAnswer;
  readonly call?: NonNullable<BlockProps<K>['call']>;
}

export type Samples = { readonly [K in ComponentName]: readonly [Sample<K>, ...Sample<K>[]] };

/** The one state of a component that has no other. */
export function ready<K extends ComponentName>(body: BodyOf<K>): readonly [Sample<K>] {
  return [{ name: 'Ready', body }];
}

/** The time on the page: what runs out always has as long left. */
export const SAMPLE_NOW_MS = Date.parse('2026-11-23T09:30:00Z');

/** Pictures of the shop, under an address that is https as the catalog wants it; the page shows its own files in their place. */
export const PICTURES = 'https://pictures.kettle.example/';

export const picture = (name: string, alt: string) => ({ url: `${PICTURES}${name}.svg`, alt });

export const euros = (amount: string) => ({ amount, currency: 'EUR' });

export function refused(message: string, ...details: readonly { path: string; message: string }[]): BlockAnswer {
  return { phase: 'failed', failure: { code: 'conflict', message, retryable: false, details } };
}
