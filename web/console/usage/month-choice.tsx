/** Going from month to month, in the address. */
import { useLocation, useRoute } from 'preact-iso';
import { monthBeside, monthOf } from './usage.ts';

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export function useMonth(): string {
  const { query } = useRoute();
  return MONTH.test(query.month ?? '') ? String(query.month) : monthOf(new Date());
}

export function MonthChoice({ month }: { readonly month: string }) {
  const { path } = useLocation();
  const later = monthBeside(month, 1);
  return (
    <nav class="row" aria-label="Month">
      <a class="button" href={`${path}?month=${monthBeside(month, -1)}`}>
        ← <span class="unseen">The month before</span>
      </a>
      <b>{month}</b>
      {later <= monthOf(new Date()) && (
        <a class="button" href={`${path}?month=${later}`}>
          → <span class="unseen">The month after</span>
        </a>
      )}
    </nav>
  );
}
