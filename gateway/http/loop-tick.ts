/**
 * Bounds what one tick of the loop answers: uWebSockets hands half a megabyte of requests of one connection to its handler. What is beyond
 * leaves in the next tick.
 */

/** A refusal takes up to a fifth of a millisecond, so these take 13 ms. Not by time: a busy machine must not end modest connections. */
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
