/** Where an actor is drawn, and what to do about what is wrong with a node. */
import type { ActorEntry } from '../../../protocol/console/answers.ts';

/** The live diagram of an actor: of the turn that runs, or of what the actor is. */
export function diagramAddress({ kind, id, app_id: app, turn_id: turn }: ActorEntry): string {
  const of = encodeURIComponent(app);
  if (turn !== null) return `/console/traces/${of}?turn_id=${encodeURIComponent(turn)}`;
  if (kind === 'conversation') return `/console/traces/${of}?conversation_id=${encodeURIComponent(id)}`;
  return `/console/traces/${of}?machine=setup-session&instance=${encodeURIComponent(id)}`;
}

/** What to do about a condition, as docs/operations.md has it; of one that this page does not know, nothing. */
export const REMEDIES: Readonly<Record<string, string>> = {
  fenced: 'Stop this service: another host serves its cell.',
  term_unproved: 'See to Redis, or to the destination that REPLICA_URL names: one of them is enough.',
  disk_low: 'Make room: uploads are refused from here on, before databases are.',
  disk_full: 'Make room: reads are served, writes are not. The service goes on within seconds.',
  read_only: 'Mount the data directory for writing, and see to its owner and mode.',
  disk_failing: 'Look at the log of the system.',
  organisation_unavailable: 'See “A file is missing or damaged” in docs/backups.md. Others are served.',
  redis_away: 'See to the Redis that REDIS_URL names. Conversations go on; nodes cannot hand over.',
  model_unusable: 'Do what it says: the key, the name or the address of the model.',
  replica_behind: 'See to the destination that REPLICA_URL names. Until then a lost disk loses more.',
  cell_away: 'Look at that cell. It is over with the next request that can be passed on.',
};
