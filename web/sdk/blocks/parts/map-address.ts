/** Where a place is looked up on a map that anybody may use. */

/** Close enough to see a house and its streets. */
const ZOOM = 16;

export function mapAddress(lat: number, lng: number, zoom = ZOOM): string {
  const [north, east] = [Number(lat).toFixed(5), Number(lng).toFixed(5)];
  return `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=${Math.round(zoom)}/${north}/${east}`;
}
