/** `info_card`: the one thing not to overlook. */
import type { BlockProps } from './block-view.ts';
import { ActionRow } from './parts/action-button.tsx';
import { Icon, toneIcon } from './parts/icon.tsx';
import { Picture } from './parts/picture.tsx';

export function InfoCard({ body: { title, md, tone, image, actions }, around }: BlockProps<'info_card'>) {
  const { Prose } = around;
  return (
    <div class={`card info is-${tone}`}>
      <Picture around={around} image={image} class="is-wide" />
      <div class="advice">
        <Icon name={toneIcon(tone)} class="is-mark" />
        <div class="grow">
          <div class="title">{title}</div>
          <Prose md={md} />
          <ActionRow actions={actions} around={around} />
        </div>
      </div>
    </div>
  );
}
