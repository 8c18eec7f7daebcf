/** What is told of an actor that lives. */

/** A live actor, as an operator sees it. */
export interface ActorRecord {
  readonly kind: 'conversation' | 'setup_session';
  readonly id: string;
  readonly node: string;
  readonly organisationId: string;
  readonly appId: string;
  /** Of its machine, e.g. `answering`; `idle` when nothing runs in it. */
  readonly state: string;
  /** Of a conversation's running turn. */
  readonly turnId: string | null;
  /** Turns, or pieces of work, that wait. */
  readonly waiting: number;
  readonly sinceMs: number;
}
