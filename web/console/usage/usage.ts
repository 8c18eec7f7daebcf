/** What an organisation used in a month, as the interface answers it. */

export interface DayOfUse {
  readonly day: string;
  readonly app_id: string;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly turns: number;
  readonly sandbox_turns: number;
}

export interface AppUse {
  readonly app_id: string;
  readonly name: string | null;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly turns: number;
  readonly conversations: number;
  readonly sandbox_turns: number;
}

export interface Usage {
  readonly month: string;
  readonly spent_usd: number;
  readonly failed_usd: number;
  readonly apps: readonly AppUse[];
  readonly days: readonly DayOfUse[];
  readonly credit: {
    readonly plan_usd: number;
    readonly plan_left_usd: number;
    readonly purchased_left_usd: number;
    readonly overdrawn_usd: number;
    readonly exhausted: boolean;
    readonly resets_at: string;
  };
  readonly users: { readonly count: number; readonly allowance: number; readonly window_days: number };
  readonly sandbox_conversations: { readonly count: number; readonly limit: number };
  readonly top_ups: readonly {
    readonly id: string;
    readonly amount_usd: number;
    readonly state: string;
    readonly reason: string | null;
    readonly created_at: string;
  }[];
  readonly mails: readonly {
    readonly threshold_percent: number;
    readonly email: string;
    readonly state: string;
    readonly created_at: string;
    readonly sent_at: string | null;
  }[];
}

/** `2026-11`, UTC. */
export function monthOf(date: Date): string {
  return date.toISOString().slice(0, 'YYYY-MM'.length);
}

/** The month before or after. */
export function monthBeside(month: string, by: 1 | -1): string {
  const [year = 0, ordinal = 1] = month.split('-').map(Number);
  return monthOf(new Date(Date.UTC(year, ordinal - 1 + by, 1)));
}

/** All days of a month: `2026-11-01` and so on. */
export function daysOf(month: string): string[] {
  const [year = 0, ordinal = 1] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, ordinal, 0)).getUTCDate();
  return Array.from({ length: count }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
}

/** `4.20 USD`; of less than a cent as much as says something. */
export function usd(amount: number): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2;
  return `${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits })} USD`;
}
