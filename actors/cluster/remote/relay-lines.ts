/** The messages between two nodes about one relayed turn, on the connection of the question that opened it or asked for it. */
import type { PlainRefusal } from '../../../protocol/errors.ts';

/** The turn is open, or was before. */
export interface Placed {
  readonly conversationId: string;
  /** Its row. */
  readonly turn: number;
  /** The first seq of the attempt that runs. */
  readonly fromSeq: number;
}

/** The outcome after `accepted`; it may have to wait until earlier turns of the conversation have ended. */
export type Outcome = readonly ['placed', Placed] | readonly ['refused', PlainRefusal];

/** Whole frames of the turn, in placeholder form, up to `nextSeq`. Nothing follows one that has ended. */
export type Relayed = readonly ['frames', nextSeq: number, text: string, ended: boolean];

/** From the reader. `from`, once: send the frames from this seq on. `slow`: whether the reader takes nothing for now. */
export type Wanted = readonly ['from', seq: number] | readonly ['slow', isSlow: boolean];
