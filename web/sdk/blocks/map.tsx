/** `map`: where things lie to each other, as a drawing of our own: nothing is fetched for it. A press opens a map of the world. */
import type { BlockProps } from './block-view.ts';
import { Icon } from './parts/icon.tsx';
import { useLazy } from './parts/lazy-hook.ts';
import { Link, mapAddress } from './parts/link.tsx';

const loadDrawing = () => import('./lazy/map-drawing.tsx');

export function MapView({ body, around }: BlockProps<'map'>) {
  const drawing = useLazy(loadDrawing, around);
  return (
    <div class="card map">
      <div class="ground" role="img" aria-label={body.alt}>
        {drawing ? <drawing.MapDrawing body={body} locale={around.locale} /> : null}
      </div>
      <ol class="rows">
        {body.markers.map(({ id, label, lat, lng }, at) => (
          <li dir="auto" key={id}>
            <Link class="row" href={mapAddress(lat, lng)} around={around} words={null}>
              <span class="number" aria-hidden="true">
                {at + 1}
              </span>
              <span class="grow">{label}</span>
              <Icon name="out" class="is-way" />
            </Link>
          </li>
        ))}
      </ol>
    </div>
  );
}
