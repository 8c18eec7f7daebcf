/** Decodes a way as maps encode it: differences of 1e-5 degrees, five bits a character. */

export interface Point {
  readonly lat: number;
  readonly lng: number;
}

const PRECISION = 1e5;
/** Characters begin at `?`. */
const FIRST = 63;
/** Numbers of degrees have seven groups of five bits at most. */
const GROUPS_MAX = 7;

/** The points of a way; those before the first character that is none of the encoding's. */
export function decodePolyline(text: string): Point[] {
  const points: Point[] = [];
  let at = 0;
  const next = (): number | undefined => {
    let value = 0;
    for (let group = 0; group < GROUPS_MAX; group++) {
      const bits = text.charCodeAt(at++) - FIRST;
      if (!(bits >= 0 && bits < 64)) return undefined;
      value |= (bits & 31) << (5 * group);
      if (bits < 32) return value & 1 ? ~(value >> 1) : value >> 1;
    }
    return undefined;
  };
  let lat = 0;
  let lng = 0;
  while (at < text.length) {
    const [north, east] = [next(), next()];
    if (north === undefined || east === undefined) break;
    lat += north;
    lng += east;
    if (Math.abs(lat) > 90 * PRECISION || Math.abs(lng) > 180 * PRECISION) break;
    points.push({ lat: lat / PRECISION, lng: lng / PRECISION });
  }
  return points;
}
