/** What the model is told of the time: the day, the time to the minute and the zone of the person (MODEL-32). */
import { LRUCache } from 'lru-cache';

/** More than there are zones. To make one costs more than all else of a request. */
const ZONES_KEPT = 700;

interface Zone {
  readonly name: string;
  readonly format: Intl.DateTimeFormat;
  /** The minute that was told last, in words, and how far it is from UTC. */
  minute: number;
  moment: string;
  offset: string;
}

const MINUTE_MS = 60_000;

/** By names in lower case, which are taken for the same: spellings are strangers'. */
const zones = new LRUCache<string, Zone>({ max: ZONES_KEPT });
/** Names of no zone; apart, so that they push none out. */
const unknown = new LRUCache<string, true>({ max: ZONES_KEPT });

function made(timeZone: string): Zone | undefined {
  const day = { weekday: 'long', year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'longOffset' } as const;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, ...day, ...clock });
    return { name: format.resolvedOptions().timeZone, format, minute: Number.NaN, moment: '', offset: '' };
  } catch {
    return undefined;
  }
}

function zoneOf(timeZone: string): Zone | undefined {
  const key = timeZone.toLowerCase();
  if (unknown.has(key)) return undefined;
  const zone = zones.get(key) ?? made(timeZone);
  if (zone === undefined) unknown.set(key, true);
  else zones.set(key, zone);
  return zone;
}

/** The zone with the words of this minute. */
function toldAt(zone: Zone, nowMs: number): Zone {
  const minute = Math.floor(nowMs / MINUTE_MS);
  if (zone.minute === minute) return zone;
  const part: Record<string, string> = {};
  for (const { type, value } of zone.format.formatToParts(nowMs)) part[type] = value;
  zone.moment = `${part.weekday} ${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}`;
  zone.offset = part.timeZoneName?.replace('GMT', '') || '+00:00';
  zone.minute = minute;
  return zone;
}

/**
 * One line of the service's own words. `candidates`: IANA names, the first that exists counts; none: UTC, and the line says so. A name is told
 * as the runtime knows it, so that no word of a stranger's stands in it.
 */
export function nowLine(nowMs: number, candidates: readonly (string | null | undefined)[]): string {
  for (const name of candidates) {
    const zone = name == null ? undefined : zoneOf(name);
    if (zone === undefined) continue;
    const { moment, name: known, offset } = toldAt(zone, nowMs);
    return `Now: ${moment} (${known}, ${offset}).`;
  }
  const { moment } = toldAt(zoneOf('UTC') as Zone, nowMs);
  return `Now: ${moment} (UTC). The person's time zone is not known.`;
}
