/** What the simulator says of an event, in few words. */
import type { Verdict } from '../../../machines/simulator/verdict.ts';

export function isEnabled({ outcome }: Verdict): boolean {
  return outcome === 'moves' || outcome === 'stays';
}

/** It can be sent: a refusal is a step as well, with its effects. Of the others nothing would come. */
export function canSend(verdict: Verdict): boolean {
  return isEnabled(verdict) || verdict.outcome === 'refused';
}

function destinationOf({ asked, after }: Verdict): string {
  const moves = asked.flatMap(({ region, taken }) => (region !== '' && taken?.to !== undefined ? [taken.to.replace('.', ': ')] : []));
  if (moves.length === 0) return after.state;
  return moves.length > 2 ? `${moves.length} regions` : moves.join(', ');
}

/** `→ working`, `refuses app_live`, `no guard agrees`. */
export function outcomeWords(verdict: Verdict): string {
  return {
    moves: `→ ${destinationOf(verdict)}`,
    stays: 'stays',
    refused: `refuses ${verdict.refusal ?? ''}`,
    guarded: 'its guards say no',
    ignored: 'ignored here',
    broken: 'not a payload of it',
  }[verdict.outcome];
}
