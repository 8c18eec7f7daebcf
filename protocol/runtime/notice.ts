/** A notice: what the stream says where the assistant deliberately does not answer. */

/** Why the assistant deliberately does not answer (STREAM-12): shown calmly and without Retry. */
export const NOTICE_REASONS = ['user_limit', 'spend_paused', 'credit_exhausted', 'daily_ceiling'] as const;
export type NoticeReason = (typeof NOTICE_REASONS)[number];

export interface Notice {
  readonly reason: NoticeReason;
  /** RFC 3339: from when on the assistant answers again. */
  readonly resets_at?: string;
}
