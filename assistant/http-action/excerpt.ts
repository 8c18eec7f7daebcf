/** Cuts a JSON value to a number of bytes such that it stays JSON and says what was cut. */
import { JSON_DEPTH_MAX } from '../../protocol/limits.ts';
import { clip } from '../../protocol/schema/text.ts';

interface Bounds {
  readonly chars: number;
  readonly items: number;
  readonly depth: number;
}

/** Tried one after the other: long texts go first, then long lists, then what lies deep. The last fits in 4 KB whatever comes. */
const BOUNDS: readonly [Bounds, ...Bounds[]] = [
  { chars: Number.POSITIVE_INFINITY, items: Number.POSITIVE_INFINITY, depth: JSON_DEPTH_MAX },
  { chars: 2_000, items: 50, depth: 12 },
  { chars: 500, items: 30, depth: 8 },
  { chars: 200, items: 20, depth: 6 },
  { chars: 80, items: 10, depth: 5 },
  { chars: 40, items: 5, depth: 4 },
  { chars: 20, items: 3, depth: 2 },
];

const CUT = '…';

/** `clip` of a text that may be a megabyte: it counts characters, of which none has more than two units. */
function clipped(text: string, chars: number): string {
  return clip(text.slice(0, chars * 2 + 2), chars);
}

function cut(value: unknown, bounds: Bounds, depth: number): unknown {
  const { chars, items } = bounds;
  if (typeof value === 'string') return clipped(value, chars);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === bounds.depth) return CUT;
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => cut(item, bounds, depth + 1));
    return value.length > items ? [...kept, `${CUT} ${value.length - items} more`] : kept;
  }
  const members = Object.entries(value);
  const kept = members.slice(0, items).map(([key, member]): [string, unknown] => [clipped(key, chars), cut(member, bounds, depth + 1)]);
  return Object.fromEntries(members.length > items ? [...kept, [CUT, `${members.length - items} more`]] : kept);
}

/** The value as JSON of at most `maxBytes` (UTF-8), which are at least 4 KB. What was cut ends in an ellipsis. */
export function excerpt(value: unknown, maxBytes: number): string {
  let json = '';
  for (const bounds of BOUNDS) {
    json = JSON.stringify(cut(value, bounds, 0));
    if (Buffer.byteLength(json) <= maxBytes) break;
  }
  return json;
}
