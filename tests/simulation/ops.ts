/** What may happen in a run, and what a seed draws of it. */
import { createDice, type Dice } from '../support/seeded.ts';
import type { faults } from './network.ts';
import type { Question } from './people.ts';
import type { Moment } from './threads.ts';

export type Op = { readonly atMs: number } & (
  | ({ readonly kind: 'ask'; readonly cell: string } & Question)
  | { readonly kind: 'stop'; readonly cell: string; readonly nth: number }
  | { readonly kind: 'kill' | 'drain'; readonly node: string; readonly downMs: number }
  | { readonly kind: 'suspend'; readonly node: string; readonly forMs: number }
  | { readonly kind: 'power'; readonly cell: string; readonly downMs: number }
  /** To whichever process makes such a write next: before its thread has it, or once it is committed and before the process knows. */
  | {
      readonly kind: 'upon';
      readonly write: (typeof WRITES)[number];
      readonly when: Moment;
      readonly does: 'kill' | 'suspend';
      readonly forMs: number;
    }
  | { readonly kind: 'redis'; readonly forMs: number }
  | { readonly kind: 'cut'; readonly percent: number }
  | { readonly kind: 'sync'; readonly wait: number; readonly count: number }
  | { readonly kind: 'clock'; readonly byMs: number }
  | { readonly kind: 'fault'; readonly of: keyof typeof faults & (typeof NUMBERED)[number]; readonly to: number; readonly forMs: number }
  | { readonly kind: 'model'; readonly fails: number; readonly everyMs: number }
);

export const NODES: readonly (readonly [cell: string, name: string])[] = [
  ['a', 'a1'],
  ['a', 'a2'],
  ['b', 'b1'],
];
export const CELLS = ['a', 'b'];
export const CONVERSATIONS = 2;
/** Everything is drawn from so long; then faults end. */
export const ACTIVE_MS = 6_000;
/** Writes that a process may be struck upon. Openings that bring results are apart: what they set off reaches the app's server. */
export const WRITES = [
  'openTurn',
  'openTurn',
  'continueTurn',
  'continueTurn',
  'commitTurn',
  'answerInvocation',
  'settleInvocations',
] as const;
const NUMBERED = ['lost', 'doubled', 'socketMs', 'threadMs', 'serverMs', 'refused', 'unanswered', 'unheard', 'busy'] as const;
/** How bad each fault may get. */
const WORST: Readonly<Record<(typeof NUMBERED)[number], number>> = {
  lost: 60,
  doubled: 60,
  socketMs: 900,
  threadMs: 700,
  serverMs: 1_500,
  refused: 60,
  unanswered: 60,
  unheard: 30,
  busy: 60,
};

/** What happens under a seed. Some seeds have people only, some few faults, some many. */
export function drawOps(seed: number): Op[] {
  const dice = createDice(seed ^ 0x5eed);
  const at = () => dice.below(ACTIVE_MS);
  const questions = Array.from(
    { length: dice.between(2, 7) },
    (): Op => ({
      ...{ kind: 'ask', atMs: at(), cell: dice.pick(['a', 'a', 'b']), conversation: dice.below(CONVERSATIONS) },
      copies: dice.pick([1, 1, 1, 2, 3]),
      ...dice.pick([
        {},
        { together: 2 },
        { together: 3 },
        { card: 'confirm' },
        { card: 'confirm' },
        { card: 'decline' },
        { card: 'race' },
      ] as const),
    }),
  );
  const faulty = Array.from({ length: dice.pick([0, 1, 2, 4, 8]) }, (): Op => fault(dice, at()));
  const struck = faulty.slice(0, 1).map((): Op => strike(dice, dice.pick(questions).atMs));
  return [...questions, ...faulty, ...struck].sort((a, b) => a.atMs - b.atMs);
}

function strike(dice: Dice, atMs: number): Op {
  return {
    ...{ kind: 'upon', atMs, write: dice.pick(WRITES), when: dice.pick(['asked', 'made'] as const) },
    ...{ does: dice.pick(['kill', 'suspend', 'suspend'] as const), forMs: dice.pick([100, 3_000, 5_000]) },
  };
}

function fault(dice: Dice, atMs: number): Op {
  const [cell, node] = dice.pick(NODES);
  const forMs = dice.pick([50, 500, 2_500, 5_000]);
  const of = dice.pick(NUMBERED);
  return dice.pick<() => Op>([
    () => ({ kind: 'stop', atMs, cell, nth: dice.below(20) }),
    () => ({ kind: 'kill', atMs, node, downMs: dice.pick([1, 100, 1_000]) }),
    () => ({ kind: 'kill', atMs, node, downMs: dice.pick([1, 100, 1_000]) }),
    () => ({ kind: 'drain', atMs, node, downMs: dice.pick([1, 100]) }),
    () => ({ kind: 'suspend', atMs, node, forMs }),
    () => ({ kind: 'suspend', atMs, node, forMs }),
    () => ({ kind: 'power', atMs, cell, downMs: dice.pick([1, 500]) }),
    () => ({ kind: 'redis', atMs, forMs }),
    () => ({ kind: 'cut', atMs, percent: dice.pick([20, 50, 100]) }),
    () => ({ kind: 'sync', atMs, wait: dice.below(3), count: dice.pick([1, 1, 2, 5]) }),
    () => ({ kind: 'clock', atMs, byMs: dice.pick([-60_000, -1_000, 1_000, 60_000]) }),
    () => ({ kind: 'fault', atMs, of, to: dice.between(1, WORST[of]), forMs }),
    () => ({ kind: 'fault', atMs, of, to: dice.between(1, WORST[of]), forMs }),
    () => ({ kind: 'model', atMs, fails: dice.pick([0, 30, 80]), everyMs: dice.pick([1, 100, 600]) }),
  ])();
}
