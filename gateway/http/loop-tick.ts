/**
 * Bounds what one tick of the event loop answers, because uWebSockets reads up to half a megabyte of requests from a connection, and hands
 * one after the other to its handler. An answer beyond the bound leaves in the next tick; uWebSockets ends a connection that has another
 * request behind one whose answer is due, at no cost.
 */

/**
 * A refusal takes up to a fifth of a millisecond, so these take 13 ms. By number and not by time: a busy machine must not end modest
 * connections.
 */
const ANSWERS_AT_ONCE_MAX = 64;

let answers = 0;
const endTick = () => {
  answers = 0;
};

/** Counts an answer. True: it may leave at once. */
export function hasRoomInTick(): boolean {
  if (answers === 0) setImmediate(endTick);
  answers += 1;
  return answers <= ANSWERS_AT_ONCE_MAX;
}
