/** How much of something is used, as a bar with its words. */
import { useLocation, useRoute } from 'preact-iso';
import { apiAddress } from '../api/request.ts';
import { monthName } from '../parts/times.ts';
import { monthBeside, monthOf } from './pace.ts';

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

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export function useMonth(): string {
  const { query } = useRoute();
  return MONTH.test(query.month ?? '') ? String(query.month) : monthOf(new Date());
}

interface SavedUsage {
  readonly month: string;
  readonly organisation: string;
  /** Of this app of it alone. */
  readonly app?: string;
}

export function SaveUsage({ month, organisation, app }: SavedUsage) {
  const path = `/orgs/${encodeURIComponent(organisation)}/usage.csv?month=${month}`;
  return (
    <a href={apiAddress(app === undefined ? path : `${path}&app=${encodeURIComponent(app)}`)} download>
      Save as CSV
    </a>
  );
}

export function MonthChoice({ month }: { readonly month: string }) {
  const { path } = useLocation();
  const later = monthBeside(month, 1);
  return (
    <nav class="row" aria-label="Month">
      <a class="button" href={`${path}?month=${monthBeside(month, -1)}`}>
        ← <span class="unseen">The month before</span>
      </a>
      <b>{monthName(month)}</b>
      {later <= monthOf(new Date()) && (
        <a class="button" href={`${path}?month=${later}`}>
          → <span class="unseen">The month after</span>
        </a>
      )}
    </nav>
  );
}
