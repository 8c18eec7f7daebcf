/** The drawing of a map, loaded with the first one that is shown: a grid, the way, numbered places, and a bar that says how far is how far. */
import type { BodyOf } from '../block-view.ts';
import { decodePolyline, type Point } from './polyline.ts';

const WIDTH = 360;
const HEIGHT = 190;
/** Room for pins at the edges. */
const EDGE = 34;
const ZOOM = 15;
/** Below, all places lie in the same spot and would be drawn kilometres apart. */
const ZOOM_MAX = 18;
const TILE = 256;
const EQUATOR_M = 40_075_016;
/** Mercator ends before the poles. */
const LAT_MAX = 85;
const GRID = 30;
const BAR_MAX = 90;

/** Position on a world of one unit, west to east and north to south. */
function onWorld({ lat, lng }: Point): { readonly x: number; readonly y: number } {
  const north = (Math.max(-LAT_MAX, Math.min(LAT_MAX, lat)) * Math.PI) / 180;
  return { x: (lng + 180) / 360, y: (1 - Math.log(Math.tan(north) + 1 / Math.cos(north)) / Math.PI) / 2 };
}

function frameOf(points: readonly Point[], zoom: number | undefined) {
  const all = points.map(onWorld);
  const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const fitting = Math.min((WIDTH - 2 * EDGE) / (right - left || 1e-9), (HEIGHT - 2 * EDGE) / (bottom - top || 1e-9));
  const most = TILE * 2 ** (points.length === 1 ? (zoom ?? ZOOM) : ZOOM_MAX);
  const scale = Math.min(fitting, most);
  const [x0, y0] = [(left + right) / 2, (top + bottom) / 2];
  const lat = points[0]?.lat ?? 0;
  return {
    scale,
    metres: (EQUATOR_M * Math.cos((Math.min(Math.abs(lat), LAT_MAX) * Math.PI) / 180)) / scale,
    place: (point: Point) => {
      const { x, y } = onWorld(point);
      return { x: WIDTH / 2 + (x - x0) * scale, y: HEIGHT / 2 + (y - y0) * scale };
    },
  };
}

/** The longest bar of 1, 2 or 5 times a power of ten metres that fits. */
function barOf(metres: number, locale: string): { readonly width: number; readonly label: string } {
  const most = metres * BAR_MAX;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = ([5, 2, 1].find((times) => times * power <= most) ?? 1) * power;
  const isFar = length >= 1000;
  const style = { style: 'unit', unit: isFar ? 'kilometer' : 'meter' } as const;
  return { width: length / metres, label: new Intl.NumberFormat(locale, style).format(isFar ? length / 1000 : length) };
}

const steps = (length: number) => [...new Array(Math.ceil(length / GRID)).keys()].map((at) => at * GRID + GRID / 2);

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

export function MapDrawing({ body: { markers, polyline, zoom }, locale }: { readonly body: BodyOf<'map'>; readonly locale: string }) {
  const way = polyline === undefined ? [] : decodePolyline(polyline);
  const { place, metres } = frameOf([...markers, ...way], zoom);
  const bar = barOf(metres, locale);
  const line = way
    .map((point) => place(point))
    .map(({ x, y }) => `${rounded(x)},${rounded(y)}`)
    .join(' ');
  const grid = [...steps(WIDTH).map((x) => `M${x} 0V${HEIGHT}`), ...steps(HEIGHT).map((y) => `M0 ${y}H${WIDTH}`)].join('');
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <path class="grid" d={grid} />
      {line === '' ? null : (
        <>
          <polyline class="casing" points={line} />
          <polyline class="way" points={line} />
        </>
      )}
      {markers.map((marker, at) => {
        const { x, y } = place(marker);
        return (
          <g key={marker.id} transform={`translate(${rounded(x)} ${rounded(y)})`}>
            <path class="pin" d="M0 0C-4 -7 -11 -11 -11 -19A11 11 0 0 1 11 -19C11 -11 4 -7 0 0Z" />
            <text class="pin-number" y="-15" text-anchor="middle">
              {at + 1}
            </text>
          </g>
        );
      })}
      <g class="bar-of-length" transform={`translate(12 ${HEIGHT - 10})`}>
        <path d={`M0 -4V0H${rounded(bar.width)}V-4`} />
        <text x={rounded(bar.width) + 6} y="0">
          {bar.label}
        </text>
      </g>
    </svg>
  );
}
