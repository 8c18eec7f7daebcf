/**
 * What is wrong with this node now, for as long as it holds: whoever sees it opens the condition, whoever sees that it is over closes
 * it. Each is said in the log once when it begins and once when it ends, however often it is met; `GET /readyz` and `GET /metrics`
 * read what holds.
 */

/**
 * - `disk_low`: only the room that databases keep, and that uploads leave beside it, is left; uploads are refused.
 * - `disk_full`, `read_only`: nothing can be stored.
 * - `disk_failing`: the disk refused a write or an fsync. About an organisation where only its file is refused.
 * - `organisation_unavailable`: its file is away, empty, another one, damaged or may not be read. About an organisation.
 * - `redis_away`: see REDIS_URL.
 * - `cell_away`: another cell does not answer. About a cell.
 * - `model_unusable`: the model's server refuses the key, the name or the address, or did not answer when it was asked at the start.
 */
export const CONDITIONS = [
  'disk_low',
  'disk_full',
  'read_only',
  'disk_failing',
  'organisation_unavailable',
  'redis_away',
  'cell_away',
  'model_unusable',
] as const;
export type ConditionName = (typeof CONDITIONS)[number];

export interface Condition {
  readonly name: ConditionName;
  /** What it is about: an organisation or a cell; '' for the node as a whole. */
  readonly subject: string;
  /** A sentence for whoever runs the service; it may name files. */
  readonly detail: string;
  readonly sinceMs: number;
}

export interface Conditions {
  /** It holds. One that holds already stays as it is. */
  open(name: ConditionName, detail: string, subject?: string): void;
  /** It is over. Does nothing when it does not hold. */
  close(name: ConditionName, subject?: string): void;
  holds(name: ConditionName, subject?: string): boolean;
  /** Everything that holds, what is worst for all first. */
  list(): readonly Condition[];
}

/** What it is told to; a pino logger fits. */
export interface ConditionLog {
  error(facts: object, text: string): void;
  info(facts: object, text: string): void;
}

/** The same words for every condition: the line's facts say which. */
const OVER = 'this condition of the node is over';

function keyOf(name: ConditionName, subject: string): string {
  return `${name} ${subject}`;
}

export function createConditions(log: ConditionLog, nowMs: () => number): Conditions {
  // As many as there are organisations and cells, at most.
  const held = new Map<string, Condition>();
  return {
    open(name, detail, subject = '') {
      const key = keyOf(name, subject);
      if (held.has(key)) return;
      held.set(key, { name, subject, detail, sinceMs: nowMs() });
      log.error({ condition: name, ...(subject !== '' && { subject }) }, detail);
    },
    close(name, subject = '') {
      const condition = held.get(keyOf(name, subject));
      if (condition === undefined) return;
      held.delete(keyOf(name, subject));
      const heldForMs = nowMs() - condition.sinceMs;
      log.info({ condition: name, ...(subject !== '' && { subject }), held_for_ms: heldForMs }, OVER);
    },
    holds: (name, subject = '') => held.has(keyOf(name, subject)),
    list: () => [...held.values()].sort((one, other) => CONDITIONS.indexOf(one.name) - CONDITIONS.indexOf(other.name)),
  };
}
