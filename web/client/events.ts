/**
 * Turns a frame into a typed event of `protocol/`, or says why it is none. Event types and fields of a later service are allowed
 * (STREAM-6).
 */
import * as v from 'valibot';
import { eventShapes, wireCount, wireId } from '../../protocol/runtime/event-shapes.ts';
import type { StreamEvent } from '../../protocol/runtime/stream-events.ts';
import { renderPath } from '../../protocol/schema/issues.ts';
import type { Frame } from './frames.ts';

export type NumberedEvent = StreamEvent & { readonly seq: number };

export type Reading =
  /** `id` is absent only on pings of a stream that waits (STREAM-5). */
  | { readonly kind: 'event'; readonly event: NumberedEvent; readonly id: number | undefined; readonly data: string }
  /** A type of a later service: its `seq` counts, its content is ignored. */
  | { readonly kind: 'unknown'; readonly type: string; readonly seq: number; readonly id: number | undefined; readonly data: string }
  /** The frame is no event. `seq` is its id where that is a number. */
  | {
      readonly kind: 'broken';
      readonly fault: 'unreadable' | 'unlike' | 'malformed';
      readonly problem: string;
      readonly seq: number | undefined;
    };

type Broken = Extract<Reading, { kind: 'broken' }>;

/**
 * A block of any component, also of one that comes later: whether its body fits the catalog is looked at by `block-fit.ts`, where anybody
 * wants to know.
 */
const block = v.object({
  index: wireCount,
  id: wireId,
  block_type: wireId,
  revision: wireCount,
  body: v.record(v.string(), v.unknown()),
  fallback_text: v.optional(v.string()),
  a11y_label: v.optional(v.string()),
});

const shapes: Readonly<Record<string, v.GenericSchema>> = eventShapes({ block, componentName: wireId, noticeReason: v.string() });

function parsed(data: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A number as frames write it: decimal digits, without a sign or leading zeros. */
function idOf(frame: Frame): number | undefined {
  return frame.id !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(frame.id) ? Number(frame.id) : undefined;
}

function broken(fault: Broken['fault'], problem: string, seq: number | undefined): Broken {
  return { kind: 'broken', fault, problem, seq };
}

/** Parses and validates a frame. Never throws. */
export function readFrame(frame: Frame): Reading {
  const id = idOf(frame);
  const said = parsed(frame.data);
  if (said === undefined) return broken('unreadable', 'its data is not a JSON object', id);
  const { type, seq } = said;
  if (typeof type !== 'string' || !Number.isSafeInteger(seq) || (seq as number) < 0) {
    return broken('malformed', 'it has no type or no seq', id);
  }
  const number = seq as number;
  if (frame.event !== type) return broken('unlike', `the frame is "${frame.event ?? ''}", its data says "${type}"`, number);
  const isWaiting = type === 'ping' && frame.id === undefined;
  if (!isWaiting && id !== number) return broken('unlike', `the frame's id is "${frame.id ?? ''}", its data says seq ${number}`, number);
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) return { kind: 'unknown', type, seq: number, id, data: frame.data };
  const result = v.safeParse(shape, said);
  if (!result.success) {
    const [issue] = result.issues;
    return broken('malformed', `${type}: ${renderPath((issue.path ?? []).map((step) => step.key))} ${issue.message}`, number);
  }
  // The compiler checks that the shapes name every field of the types.
  return { kind: 'event', event: said as unknown as NumberedEvent, id, data: frame.data };
}
