/**
 * What is wrong with this node now. The code that detects a problem opens its condition, and the code that sees its end closes it. Each is logged
 * once when it begins and once when it ends. `GET /readyz` and `GET /metrics` show the open ones.
 */

import { isId } from '../../protocol/ids.ts';

/**
 * - `disk_low`: only the space reserved for databases and uploads' margin is left; uploads are refused.
 * - `disk_full`, `read_only`: nothing can be stored.
 * - `disk_failing`: the disk refused a write or an fsync. About an organisation when only its file is refused.
 * - `organisation_unavailable`: its file is missing, empty, replaced, damaged or unreadable. About an organisation.
 * - `fenced`: another host took this cell over; nothing is stored here any more.
 * - `term_unproved`: whether another host did is not known; nothing is stored until it is.
 * - `redis_away`: see REDIS_URL.
 * - `cell_away`: another cell does not answer. About a cell.
 * - `replica_behind`: what is stored here is not replicated, or later than REPLICA_LAG_MAX_S.
 * - `model_unusable`: the model's server refuses the key, the name or the address, or did not answer at the start.
 * - `model_failing`: the last rounds of an app, or of the model, all failed. About an app, or the model by its name.
 * - `backend_failing`: the last calls of an app's own server all failed. About an app.
 * - `knowledge_failing`: the last sources of an app could all not be read, or the embeddings server takes nothing. About either.
 * - `mail_failing`: the last mails were all not taken.
 * - `credit_ends`: most of a month's usage credit is used. About an organisation.
 */
export const CONDITIONS = [
  'fenced',
  'term_unproved',
  'disk_low',
  'disk_full',
  'read_only',
  'disk_failing',
  'organisation_unavailable',
  'redis_away',
  'cell_away',
  'replica_behind',
  'model_unusable',
  'model_failing',
  'backend_failing',
  'knowledge_failing',
  'mail_failing',
  'credit_ends',
] as const;
export type ConditionName = (typeof CONDITIONS)[number];

export interface Condition {
  readonly name: ConditionName;
  /** What it is about: an organisation or a cell; '' for the node as a whole. */
  readonly subject: string;
  /** A sentence for the operator, without the subject; it may name files. */
  readonly detail: string;
  readonly sinceMs: number;
}

/** One failure may be one person's message; this many with no success between them are about what fails (RUN-35). */
const FAILURES_IN_A_ROW = 5;
/** What fails that is counted at once: each is an app or a server. Of more, the first are. */
const FAILING_MAX = 10_000;

/** A pino logger fits. */
interface ConditionLog {
  error(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  info(facts: object, text: string): void;
}

/** The same message for every condition: the line's fields say which. */
const OVER = 'this condition of the node is over';

function keyOf(name: ConditionName, subject: string): string {
  return `${name} ${subject}`;
}

export class Conditions {
  // Bounded by the number of organisations and cells.
  readonly #open = new Map<string, Condition>();
  readonly #failures = new Map<string, { count: number; readonly sinceMs: number }>();
  #told: ((name: ConditionName, subject: string, isFailed: boolean) => void) | null = null;
  readonly #log: ConditionLog;
  readonly #nowMs: () => number;

  constructor(log: ConditionLog, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** One that is open already takes the newer detail, and is not logged again. */
  open(name: ConditionName, detail: string, subject = '', sinceMs = this.#nowMs()): void {
    const key = keyOf(name, subject);
    const open = this.#open.get(key);
    this.#open.set(key, { name, subject, detail, sinceMs: open?.sinceMs ?? sinceMs });
    if (open !== undefined) return;
    // What fails of one app is for its owners to mend, and some of it a stranger can bring about: nothing to wake an operator for.
    const level = isId('app', subject) ? 'warn' : 'error';
    this.#log[level]({ condition: name, ...(subject !== '' && { subject }) }, detail);
  }

  close(name: ConditionName, subject = ''): void {
    const key = keyOf(name, subject);
    const condition = this.#open.get(key);
    if (condition === undefined) return;
    this.#open.delete(key);
    const heldForMs = this.#nowMs() - condition.sinceMs;
    this.#log.info({ condition: name, ...(subject !== '' && { subject }), held_for_ms: heldForMs }, OVER);
  }

  /** Tells of each attempt, for whoever counts them. */
  watch(told: (name: ConditionName, subject: string, isFailed: boolean) => void): void {
    this.#told = told;
  }

  /** How an attempt ended, of which one may fail. Several failures in a row open the condition, since the first of them, and the first success ends it. */
  tried(name: ConditionName, subject: string, failure: string | undefined): void {
    try {
      this.#told?.(name, subject, failure !== undefined);
    } catch {
      // A count is worth no call that was made and no turn: what was tried has ended.
    }
    const key = keyOf(name, subject);
    if (failure === undefined) {
      if (this.#failures.delete(key)) this.close(name, subject);
      return;
    }
    if (this.#failures.size >= FAILING_MAX && !this.#failures.has(key)) return;
    const failures = this.#failures.get(key) ?? { count: 0, sinceMs: this.#nowMs() };
    failures.count += 1;
    this.#failures.set(key, failures);
    if (failures.count >= FAILURES_IN_A_ROW) this.open(name, failure, subject, failures.sinceMs);
  }

  holds(name: ConditionName, subject = ''): boolean {
    return this.#open.has(keyOf(name, subject));
  }

  list(): readonly Condition[] {
    return [...this.#open.values()].sort((one, other) => CONDITIONS.indexOf(one.name) - CONDITIONS.indexOf(other.name));
  }
}
