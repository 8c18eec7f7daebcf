/** The phases of a turn as bars on one scale, from the arrival of the request on. */
import { PHASE_WORDS, type Phase } from './phases.ts';

const WIDTH = 1_000;
/** What took no time is still to be seen. */
const BAR_MIN = 4;

const milliseconds = (ms: number): string => `${ms.toLocaleString('en')} ms`;

export function PhaseList({ phases }: { readonly phases: readonly Phase[] }) {
  const fromMs = Math.min(...phases.map((phase) => phase.fromMs));
  const wholeMs = Math.max(...phases.map((phase) => phase.fromMs + phase.tookMs)) - fromMs;
  const scale = wholeMs === 0 ? 0 : WIDTH / wholeMs;
  const hasRounds = phases.some(({ round }) => round > 1);
  return (
    <ol class="phases" aria-label="Where the time of the turn went">
      {phases.map(({ kind, round, fromMs: beganMs, tookMs, fallbacks }) => {
        const width = Math.max(tookMs * scale, BAR_MIN);
        return (
          <li key={`${kind} ${beganMs}`} class="phase">
            <span>
              {PHASE_WORDS[kind]}
              {hasRounds && round > 0 && <small> round {round}</small>}
              {fallbacks !== undefined && <small> after {fallbacks}</small>}
            </span>
            <svg class="trial-bar" viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
              <rect x={Math.min((beganMs - fromMs) * scale, WIDTH - width)} width={width} height="8" class={`span is-${kind}`} />
            </svg>
            <span class="phase-time">{milliseconds(tookMs)}</span>
          </li>
        );
      })}
      <li class="phase is-whole">
        <span>Together</span>
        <span />
        <span class="phase-time">{milliseconds(wholeMs)}</span>
      </li>
    </ol>
  );
}
