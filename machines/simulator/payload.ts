/** Whether an event that a person wrote has the form of its samples: the same fields, of the same types. */
import type { SampleEvent } from './samples.ts';

/** A name or a sentence; the samples' longest has 30. */
const TEXT_MAX_CHARS = 200;
/** As JSON; the samples' longest has 130. */
export const PAYLOAD_MAX_CHARS = 2_000;

type Kind = 'null' | 'boolean' | 'number' | 'string' | 'object' | 'list';

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'a text',
  object: 'an object',
  list: 'a list',
};

function kindOf(value: unknown): Kind | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : undefined;
  const kind = typeof value;
  return kind === 'boolean' || kind === 'string' || kind === 'object' ? kind : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === 'object';
}

/**
 * A sentence on the first field that does not fit, undefined when all do. A field may be what any sample has at its place; null only where
 * one has null. `samples`: events of one type, at least one.
 */
export function payloadFault(given: unknown, samples: readonly SampleEvent[]): string | undefined {
  if (JSON.stringify(given).length > PAYLOAD_MAX_CHARS) return `The payload has more than ${PAYLOAD_MAX_CHARS} characters.`;
  const fault = faultAt(given, samples, '');
  if (fault !== undefined) return fault;
  const type = samples[0]?.type;
  return (given as SampleEvent).type === type ? undefined : `type must be ${type}.`;
}

function faultAt(given: unknown, samples: readonly unknown[], path: string): string | undefined {
  const kind = kindOf(given);
  const allowed = new Set(samples.map(kindOf));
  const name = path === '' ? 'The payload' : path;
  if (kind === undefined || !allowed.has(kind)) {
    const words = [...allowed].flatMap((one) => (one === undefined ? [] : [KIND_WORDS[one]]));
    return `${name} must be ${words.join(' or ')}.`;
  }
  if (typeof given === 'string' && given.length > TEXT_MAX_CHARS) return `${name} has more than ${TEXT_MAX_CHARS} characters.`;
  return isRecord(given) ? faultInside(given, samples.filter(isRecord), path) : undefined;
}

function faultInside(
  given: Readonly<Record<string, unknown>>,
  samples: readonly Readonly<Record<string, unknown>>[],
  path: string,
): string | undefined {
  const fields = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  const at = (field: string) => (path === '' ? field : `${path}.${field}`);
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  if (unknown !== undefined) return `${at(unknown)} is no field of it; there are: ${fields.join(', ')}.`;
  for (const field of fields) {
    if (!Object.hasOwn(given, field)) return `${at(field)} is missing.`;
    const inside = samples.filter((sample) => Object.hasOwn(sample, field)).map((sample) => sample[field]);
    const fault = faultAt(given[field], inside, at(field));
    if (fault !== undefined) return fault;
  }
  return undefined;
}
