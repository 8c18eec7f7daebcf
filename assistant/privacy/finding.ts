/** Personal data where it stands in a text. */
import type { PlaceholderKind } from './placeholder.ts';

export interface Finding {
  readonly kind: PlaceholderKind;
  /** UTF-16 code units from the beginning of the text, the end excluded. */
  readonly start: number;
  readonly end: number;
  /** The text between them, as it was written. */
  readonly value: string;
}
