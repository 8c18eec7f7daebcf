import type { Opinion, Opinions } from '../../protocol/console/answers.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type FeedbackRow, listFeedback } from '../../storage/conversations/feedback.ts';
import { listRatings, type RatingRow } from '../../storage/conversations/ratings.ts';
import { appRead } from './app-read.ts';
import { shownDevice } from './conversations.ts';
import { newestLimit, nextOf, pageKey } from './pages.ts';

interface Listed {
  readonly atMs: number;
  readonly key: string;
  readonly wire: Opinion;
}

function thumb(row: FeedbackRow): Listed {
  const wire: Opinion = {
    kind: 'feedback',
    message_id: row.messageId,
    conversation_id: row.conversationId,
    channel: row.channel,
    device: shownDevice(row.deviceId),
    rating: row.rating,
    reason: row.reason,
    created_at: timestamp(row.createdAtMs),
    updated_at: timestamp(row.updatedAtMs),
  };
  return { atMs: row.updatedAtMs, key: row.key, wire };
}

function score(row: RatingRow): Listed {
  const wire: Opinion = {
    kind: 'rating',
    message_id: row.messageId,
    conversation_id: row.conversationId,
    channel: row.channel,
    block_id: row.blockId,
    value: row.value,
    comment: row.comment,
    created_at: timestamp(row.createdAtMs),
    updated_at: timestamp(row.createdAtMs),
  };
  return { atMs: row.createdAtMs, key: row.blockId, wire };
}

function newestFirst(one: Listed, other: Listed): number {
  return other.atMs - one.atMs || (one.key < other.key ? 1 : -1);
}

export const listFeedbackRoute = appRead<Opinions>('/feedback', ({ app, db }, query) => {
  const limit = newestLimit(query);
  const before = pageKey(query);
  // A page of each, so that whichever is newer is there.
  const both = [...listFeedback(db, app.id, before, limit).map(thumb), ...listRatings(db, app.id, before, limit).map(score)];
  const page = both.sort(newestFirst).slice(0, limit);
  const next = page.length === limit ? (page.at(-1) ?? null) : null;
  return { feedback: page.map(({ wire }) => wire), next: nextOf(next) };
});
