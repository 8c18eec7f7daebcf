/** `screens`: screens of the app to go to. */
import type { BlockProps } from './block-view.ts';
import { Icon } from './parts/icon.tsx';

export function Screens({ body: { items }, around: { ask } }: BlockProps<'screens'>) {
  return (
    <ul class="card rows">
      {items.map(({ route, title, description, params = {} }) => (
        <li key={`${route} ${title}`}>
          <button type="button" class="row" onClick={() => ask.openScreen(route, params)}>
            <Icon name="screen" class="is-mark" />
            <span class="grow">
              <b>{title}</b>
              {description ? <small>{description}</small> : null}
            </span>
            <Icon name="next" class="is-way" />
          </button>
        </li>
      ))}
    </ul>
  );
}
