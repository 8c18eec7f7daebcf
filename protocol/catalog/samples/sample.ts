/** What samples of components share. */
import type { Body } from '../component.ts';

/**
 * Bodies by component and by the state that each shows, as the model writes them: the server's fields are left out. `text` and
 * `confirm_card` are whole, nobody completes them.
 */
export type Samples = Readonly<Record<string, Readonly<Record<string, Body>>>>;

/** Pictures of a shop that is made up, under an address that is https as the catalog wants it; the page of components shows its own files in their place. */
export const PICTURES = 'https://pictures.kettle.example/';

export const picture = (name: string, alt: string) => ({ url: `${PICTURES}${name}.svg`, alt });

export const euros = (amount: string) => ({ amount, currency: 'EUR' });
