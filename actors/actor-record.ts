/** A live actor, as an operator sees it: what the console lists. */

export interface ActorRecord {
  readonly kind: 'conversation' | 'setup_session';
  readonly id: string;
  readonly node: string;
  readonly organisationId: string;
  readonly appId: string;
  /** State of its machine, e.g. `answering`; `idle` when nothing runs in it. */
  readonly state: string;
  readonly turnId: string | null;
  readonly waiting: number;
  readonly sinceMs: number;
}
