/** How much of something is used, as a bar with its words. */

interface LevelProps {
  readonly label: string;
  readonly used: number;
  readonly of: number;
  readonly words: string;
  readonly usedUp?: string | null;
  readonly isSoft?: boolean;
}

const NEAR = 0.8;

export function Level({ label, used, of, words, usedUp = null, isSoft = false }: LevelProps) {
  const share = of === 0 ? 0 : used / of;
  const signal = isSoft || share < NEAR ? '' : share < 1 ? 'is-near' : 'is-over';
  return (
    <div class="level">
      <span class="level-label">{label}</span>
      <meter class={`rank-bar is-wide ${signal}`} min={0} max={Math.max(of, 0.000001)} value={Math.min(used, of)} aria-label={label} />
      <span class="level-words">
        {words}
        {usedUp !== null && <span class="level-pace">At this pace used up {usedUp}</span>}
      </span>
    </div>
  );
}
