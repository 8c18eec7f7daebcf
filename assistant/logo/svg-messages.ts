/** What is answered of an SVG: plain data, because it crosses to another process. */
import type { ErrorCode } from '../../protocol/errors.ts';
import type { SafeSvg } from './svg-purifier.ts';

export type SvgVerdict =
  | { readonly kind: 'safe'; readonly svg: SafeSvg }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };
