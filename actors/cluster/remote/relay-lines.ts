/** What two nodes say to each other about one turn, over the line of the question that opened it or asked for it. */
import type { PlainRefusal } from '../../../protocol/errors.ts';

/** The turn is open, or was before. */
export interface Placed {
  readonly conversationId: string;
  /** Its row. */
  readonly turn: number;
  /** The first seq of the attempt that runs. */
  readonly fromSeq: number;
}

/** After `accepted`: what came of it, which may take until those before it in the conversation have ended. */
export type Outcome = readonly ['placed', Placed] | readonly ['refused', PlainRefusal];

/** Whole frames of the turn, in placeholder form, up to `nextSeq`. Nothing follows one that has ended. */
export type Relayed = readonly ['frames', nextSeq: number, text: string, ended: boolean];

/** From the reader. `from`: send the frames from this seq on, said once; `slow`: whether the reader takes nothing for now. */
export type Wanted = readonly ['from', seq: number] | readonly ['slow', isSlow: boolean];
