/** What the SVG thread is given and answers: plain data, because it crosses a thread boundary. */
import type { ErrorCode } from '../../protocol/errors.ts';
import type { SafeSvg } from './svg-purifier.ts';

export interface SvgTask {
  /** Without XML declaration and DOCTYPE. */
  readonly text: string;
}

export type SvgVerdict =
  | { readonly kind: 'safe'; readonly svg: SafeSvg }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };
