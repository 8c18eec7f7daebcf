/**
 * A walk as text for an address, and back. An event that is a sample is two numbers, any other brings its payload. The text begins with a
 * sum over what it stands for, so that a damaged link is told, and one that another version of the samples would read otherwise.
 */
import { PAYLOAD_MAX_CHARS, payloadFault } from './payload.ts';
import type { SampleEvent } from './samples.ts';
import { type SimulatedMachine, WALK_EVENTS_MAX, type Walk, walked } from './walk.ts';

/** Some browsers and proxies cut addresses at 8,000 characters. A walk that is longer has no link. */
const LINK_MAX_CHARS = 6_000;

/** A walk with the step that is looked at: 0 is the start. */
export interface LinkedWalk extends Walk {
  readonly at: number;
}

/** A link that cannot be read; its message is one sentence for a person. */
export class DamagedLink extends Error {}

const SAMPLE = /^([0-9a-z]{1,2})(?:\*([0-9a-z]{1,2}))?$/;
const CUSTOM = /^([0-9a-z]{1,2})\*\*([\w-]+)$/;
const NUMBER = /^(?:0|[1-9]\d{0,2})$/;

/** FNV-1a, 32 bits: it finds damage, and nobody has to be kept from making one. */
function sumOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36);
}

function sumOfWalk({ name, samples }: SimulatedMachine, { input, events, at }: LinkedWalk): string {
  return sumOf(JSON.stringify([name, samples.inputs[input] ?? null, at, events]));
}

/** `{ b, a, type }` and `{ type, a, b }` are one event: its fields in the order of the text that is summed up. */
function withTypeFirst({ type, ...payload }: SampleEvent): SampleEvent {
  return { type, ...payload };
}

function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** @throws DOMException or TypeError when it is none. */
function fromBase64Url(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function tokenOf({ samples }: SimulatedMachine, event: SampleEvent): string {
  const types = Object.keys(samples.events);
  const type = types.indexOf(event.type).toString(36);
  const written = JSON.stringify(event);
  const sample = (samples.events[event.type] ?? []).findIndex((one) => JSON.stringify(withTypeFirst(one)) === written);
  if (sample >= 0) return sample === 0 ? type : `${type}*${sample.toString(36)}`;
  const { type: _, ...payload } = event;
  return `${type}**${toBase64Url(JSON.stringify(payload))}`;
}

/** The walk as text of letters, digits and `.*-_`; undefined when it is too long for an address. */
export function walkToText(simulated: SimulatedMachine, { input, events: given, at }: LinkedWalk): string | undefined {
  const events = given.map(withTypeFirst);
  const tokens = events.map((event) => tokenOf(simulated, event));
  const text = [sumOfWalk(simulated, { input, events, at }), input, at, ...tokens].join('.');
  return events.length > WALK_EVENTS_MAX || text.length > LINK_MAX_CHARS ? undefined : text;
}

function eventOf({ samples }: SimulatedMachine, token: string): SampleEvent {
  const [, type = '', sample = '0'] = SAMPLE.exec(token) ?? [];
  const [, customType = '', packed] = CUSTOM.exec(token) ?? [];
  const name = Object.keys(samples.events)[Number.parseInt(type === '' ? customType : type, 36)];
  const known = name === undefined ? undefined : samples.events[name];
  if (name === undefined || known === undefined) throw new DamagedLink();
  if (packed === undefined) {
    const event = known[Number.parseInt(sample, 36)];
    if (event === undefined) throw new DamagedLink();
    return withTypeFirst(event);
  }
  const json = fromBase64Url(packed);
  if (json.length > PAYLOAD_MAX_CHARS) throw new DamagedLink();
  const payload: unknown = JSON.parse(json);
  if (typeof payload !== 'object' || payload === null || Object.hasOwn(payload, 'type')) throw new DamagedLink();
  const event = { type: name, ...payload };
  if (payloadFault(event, known) !== undefined) throw new DamagedLink();
  return event;
}

function read(simulated: SimulatedMachine, text: string): LinkedWalk {
  if (text.length > LINK_MAX_CHARS) throw new DamagedLink();
  const [sum, input = '', at = '', ...tokens] = text.split('.');
  if (!NUMBER.test(input) || !NUMBER.test(at) || tokens.length > WALK_EVENTS_MAX) throw new DamagedLink();
  const walk = { input: Number(input), at: Number(at), events: tokens.map((token) => eventOf(simulated, token)) };
  const inputs = Math.max(simulated.samples.inputs.length, 1);
  if (walk.input >= inputs || walk.at > walk.events.length || sum !== sumOfWalk(simulated, walk)) throw new DamagedLink();
  if (walked(simulated, walk).steps.some(({ verdict }) => verdict.outcome === 'broken')) throw new DamagedLink();
  return walk;
}

/** The walk that `walkToText` wrote. @throws DamagedLink for any other text, with a sentence to show. */
export function walkFromText(simulated: SimulatedMachine, text: string): LinkedWalk {
  try {
    return read(simulated, text);
  } catch {
    throw new DamagedLink(
      'The steps in this link cannot be read: it was cut, or made by another version, so the machine stands at its start.',
    );
  }
}
