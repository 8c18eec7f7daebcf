/** `text`: the answer's words. */
import type { BlockProps } from './block-view.ts';

export function Text({ body: { md }, around: { Prose } }: BlockProps<'text'>) {
  return <Prose md={md} />;
}
