/** A picture of a block (BLOCKVIEW-4): https alone, loaded when it is near, without telling whose page it is on; gone when it cannot be loaded. */
import { useState } from 'preact/hooks';
import { isHttpsUrl } from '../../../../protocol/catalog/text-checks.ts';
import type { BlockSurroundings } from '../block-view.ts';

interface PictureProps {
  readonly around: BlockSurroundings;
  readonly image: { readonly url: string; readonly alt: string } | undefined;
  /** Where: it decides over the size. */
  readonly class: string;
}

export function Picture({ around, image, class: className }: PictureProps) {
  const [failed, setFailed] = useState<string>();
  if (image === undefined || !isHttpsUrl(image.url) || failed === image.url) return null;
  return (
    <img
      class={`picture ${className}`}
      src={around.picture?.(image.url) ?? image.url}
      alt={image.alt}
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      draggable={false}
      onError={() => setFailed(image.url)}
    />
  );
}
