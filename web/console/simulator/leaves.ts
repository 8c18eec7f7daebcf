/** Plain values inside a JSON value, how two values differ in them, and what the simulator says of an event, in few words. */
import type { Verdict } from '../../../machines/simulator/verdict.ts';

interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const inside = Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
  return inside.length === 0 && path !== '' ? [{ path, value }] : inside;
}

export function differencesOf(before: unknown, after: unknown): Difference[] {
  const [old, now] = [before, after].map((value) => new Map(leavesOf(value).map((leaf) => [leaf.path, leaf.value]))) as [
    Map<string, unknown>,
    Map<string, unknown>,
  ];
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  return paths
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

export function valueWords(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** An event's payload on one line, `serverCalls 1, waiting.reads 0`; '' when it has none. */
export function payloadWords(event: { readonly type: string }): string {
  const { type: _, ...payload } = event;
  return leavesOf(payload)
    .map(({ path, value }) => `${path} ${valueWords(value)}`)
    .join(', ');
}

export function isEnabled({ outcome }: Verdict): boolean {
  return outcome === 'moves' || outcome === 'stays';
}

/** It can be sent: a refusal is a step as well, with its effects. Of the others nothing would come. */
export function canSend(verdict: Verdict): boolean {
  return isEnabled(verdict) || verdict.outcome === 'refused';
}

function destinationOf({ asked, after }: Verdict): string {
  const moves = asked.flatMap(({ region, taken }) => (region !== '' && taken?.to !== undefined ? [taken.to.replace('.', ': ')] : []));
  if (moves.length === 0) return after.state.startsWith('{') ? 'regions' : after.state;
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
