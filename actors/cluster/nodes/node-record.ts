/** The record that a node publishes: over the sockets of its host, and in Redis. */
import * as v from 'valibot';
import { isEnding, type NodeStore } from '../../node.ts';

/** One node as the others see it. `id` is this start's own: `<NODE_ID>~<8 characters>`, never used again. */
export interface NodeRecord {
  readonly id: string;
  /** NODE_ID, which outlives a restart. */
  readonly name: string;
  readonly pid: number;
  readonly cell: string | null;
  /** Where it listens: `http://host:port`; null until it does. */
  readonly url: string | null;
  readonly startedAtMs: number;
  readonly state: 'serving' | 'draining';
  readonly actors: number;
}

const NODE_RECORD: v.GenericSchema<unknown, NodeRecord> = v.object({
  id: v.string(),
  name: v.string(),
  pid: v.number(),
  cell: v.nullable(v.string()),
  url: v.nullable(v.string()),
  startedAtMs: v.number(),
  state: v.picklist(['serving', 'draining']),
  actors: v.number(),
});

/** The record of this node now. */
export function recordOf(node: NodeStore): NodeRecord {
  const { id, name, cell, startedAtMs, life, conversations, sessions } = node.get().context;
  const url = 'url' in life ? life.url : null;
  const state = isEnding(node) ? 'draining' : 'serving';
  return { id, name, pid: process.pid, cell, url, startedAtMs, state, actors: conversations + sessions };
}

/** Null when the text is no record: it came from outside, or from another version of the program. */
export function parseNodeRecord(json: string): NodeRecord | null {
  try {
    const parsed = v.safeParse(NODE_RECORD, JSON.parse(json));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
