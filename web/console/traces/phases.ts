/** Where the time of a turn went, in words that need no machine: admission, knowledge, the model, its words, calls. Made of the turn's steps. */
import type { RoundCost } from '../../../machines/chat-turn.ts';
import type { Trace, TracedStep } from './traces.ts';

export type PhaseKind = 'admit' | 'find' | 'model' | 'say' | 'call';

export interface Phase {
  readonly kind: PhaseKind;
  readonly round: number;
  /** Unix time, and how long. */
  readonly fromMs: number;
  readonly tookMs: number;
  /** Models that failed in it before another one answered. */
  readonly fallbacks?: string;
  /** What the round cost, where it is of the model's words. */
  readonly tokens?: string;
}

export const PHASE_WORDS: Readonly<Record<PhaseKind, string>> = {
  admit: 'Admission',
  find: 'Knowledge and request',
  model: 'Model to first word',
  say: 'Model to its end',
  call: 'Calls of the app',
};

function costOf({ event }: TracedStep): RoundCost | undefined {
  const { cost } = event;
  const isCost = typeof cost === 'object' && cost !== null && typeof (cost as Partial<RoundCost>).preparedMs === 'number';
  return isCost ? (cost as unknown as RoundCost) : undefined;
}

function fallbacksOf({ fallbacks }: RoundCost): { readonly fallbacks?: string } {
  if (!Array.isArray(fallbacks) || fallbacks.length === 0) return {};
  const failed = (fallbacks as NonNullable<RoundCost['fallbacks']>).map(({ askedFirst, kind }) => `${askedFirst} failed (${kind})`);
  return { fallbacks: failed.join(', ') };
}

function tokensOf({ inputTokens, outputTokens }: RoundCost): { readonly tokens?: string } {
  if (inputTokens === undefined && outputTokens === undefined) return {};
  return { tokens: `${(inputTokens ?? 0).toLocaleString('en')} in, ${(outputTokens ?? 0).toLocaleString('en')} out` };
}

function roundPhases(askedAtMs: number, endedAtMs: number, round: number, cost: RoundCost): Phase[] {
  const { admittedMs = 0, preparedMs, firstMs } = cost;
  const sentAtMs = askedAtMs + preparedMs;
  const firstAtMs = firstMs === undefined ? endedAtMs : Math.min(sentAtMs + firstMs, endedAtMs);
  const phases: Phase[] = [
    { kind: 'admit', round: 0, fromMs: askedAtMs - admittedMs, tookMs: admittedMs },
    { kind: 'find', round, fromMs: askedAtMs, tookMs: preparedMs },
    { kind: 'model', round, fromMs: sentAtMs, tookMs: Math.max(0, firstAtMs - sentAtMs), ...fallbacksOf(cost) },
    { kind: 'say', round, fromMs: firstAtMs, tookMs: Math.max(0, endedAtMs - firstAtMs), ...tokensOf(cost) },
  ];
  return phases.filter(({ kind }) => (kind === 'admit' ? cost.admittedMs !== undefined : kind !== 'say' || firstMs !== undefined));
}

/** Phases in the order of time, made of the turn's own trace. A turn that was made before rounds were timed has none. */
export function phasesOf({ steps }: Pick<Trace, 'steps'>): readonly Phase[] {
  let [askedAtMs, callsAtMs, round] = [0, 0, 0];
  return steps.flatMap((step): Phase[] => {
    const { event, effects, atMs } = step;
    const cost = costOf(step);
    const ended = cost === undefined ? [] : roundPhases(askedAtMs, atMs, round, cost);
    const called: Phase[] = event.type === 'calls.settled' ? [{ kind: 'call', round, fromMs: callsAtMs, tookMs: atMs - callsAtMs }] : [];
    for (const effect of effects) {
      if (effect.type === 'runCalls') callsAtMs = atMs;
      if (effect.type !== 'callModel') continue;
      askedAtMs = atMs;
      round = Number(effect.round);
    }
    return [...ended, ...called];
  });
}
