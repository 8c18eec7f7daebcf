/** Codes to scan, loaded with the first one that is shown. What cannot be encoded is not drawn; its words stand below. */
import { azteccode, code128, type DrawingContext, pdf417, qrcode } from 'bwip-js/browser';

const ENCODERS = { qr: qrcode, pdf417, aztec: azteccode, code128 } as const;
const LINES_HEIGHT_MM = 12;

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly path: string;
}

/** Takes what the encoder draws as one path, instead of making markup of it. */
function pathDrawing(): DrawingContext<Shape> {
  let [width, height, path] = [0, 0, ''];
  return {
    scale: () => null,
    measure: () => ({ width: 0, ascent: 0, descent: 0 }),
    init: (wide, high) => {
      [width, height] = [wide, high];
    },
    line: (x0, y0, x1, y1, thick) => {
      const half = thick / 2;
      path += x0 === x1 ? `M${x0 - half} ${y0}H${x0 + half}V${y1}H${x0 - half}Z` : `M${x0} ${y0 - half}H${x1}V${y0 + half}H${x0}Z`;
    },
    polygon: (points) => {
      path += `M${points.map(([x, y]) => `${x} ${y}`).join('L')}Z`;
    },
    hexagon: () => undefined,
    ellipse: () => undefined,
    fill: () => undefined,
    text: () => undefined,
    end: () => ({ width, height, path }),
  };
}

function shapeOf(format: keyof typeof ENCODERS, value: string): Shape | undefined {
  try {
    const options = { bcid: format, text: value, scale: 2, ...(format === 'code128' ? { height: LINES_HEIGHT_MM } : {}) };
    return ENCODERS[format](options, pathDrawing());
  } catch {
    return undefined;
  }
}

export function Barcode({ format, value }: { readonly format: keyof typeof ENCODERS; readonly value: string }) {
  const shape = shapeOf(format, value);
  if (shape === undefined) return null;
  return (
    <svg viewBox={`0 0 ${shape.width} ${shape.height}`} shape-rendering="crispEdges" aria-hidden="true">
      <path d={shape.path} fill-rule="evenodd" />
    </svg>
  );
}
