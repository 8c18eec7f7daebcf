/** What the interface answers about nodes, cells and actors, as the page reads it. */
export interface NodeEntry {
  readonly id: string;
  readonly name: string;
  readonly pid: number;
  readonly cell: string | null;
  readonly url: string | null;
  readonly state: 'serving' | 'draining';
  readonly started_at: string;
  readonly actors: number;
  readonly self: boolean;
}

export interface ConditionEntry {
  readonly condition: string;
  readonly since: string;
  readonly count?: number;
  readonly about?: readonly { readonly id: string; readonly since: string; readonly detail: string }[];
  readonly detail?: string;
}

export interface MoveEntry {
  readonly organisation_id: string;
  readonly move_id: string;
  readonly source_cell: string;
  readonly target_cell: string;
  readonly step: string;
  readonly error: string | null;
  readonly started_at: string;
}

export interface NodesAnswer {
  readonly nodes: readonly NodeEntry[];
  readonly redis: 'connected' | 'away' | null;
  readonly conditions: readonly ConditionEntry[];
  readonly moves: readonly MoveEntry[];
}

export interface CellEntry {
  readonly cell: string;
  readonly url: string;
  readonly is_this: boolean;
  readonly seen_at: string;
  readonly placed_organisations: number;
  readonly reachable: boolean;
  readonly fault: string | null;
}

export interface CellsAnswer {
  readonly cell: string | null;
  readonly cells: readonly CellEntry[];
}

export interface ActorEntry {
  readonly kind: 'conversation' | 'setup_session';
  readonly id: string;
  readonly node: string;
  readonly app_id: string;
  readonly state: string;
  readonly turn_id: string | null;
  readonly waiting: number;
  readonly since: string;
}

export interface ActorsAnswer {
  readonly actors: readonly ActorEntry[];
  readonly total: number;
  readonly unreachable: readonly string[];
}

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
