/** Console: the people of an app as it names them; what is kept of one, its end, and what people think of answers (CONSOLE-14, CONSOLE-16, CONSOLE-20). */
import type { Opinion, Opinions, Person } from '../../protocol/console/answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { EXTERNAL_USER_ID_MAX_CHARS } from '../../protocol/limits.ts';
import { fits } from '../../protocol/schema/text.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { type FeedbackRow, listFeedback } from '../../storage/conversations/feedback.ts';
import { listRatings, type RatingRow } from '../../storage/conversations/ratings.ts';
import { deviceTraitsOf, type EndUserRecord, listEndUsers, readEndUserById, traitsOfRecord } from '../../storage/people/end-users.ts';
import { deleteUploadFiles } from '../../storage/uploads/upload-files.ts';
import { renderInPieces } from '../http/json-pieces.ts';
import { consoleRoute, json, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { appRead, type FoundApp, requireApp } from './app-read.ts';
import { shownDevice } from './conversations.ts';
import { newestLimit, nextOf, pageKey, pageOf } from './pages.ts';
import { EXPORT_DEPTH, exportPerson } from './person-export.ts';

function personToWire(person: EndUserRecord): Person {
  return {
    id: person.id,
    external_user_id: person.externalUserId,
    channel: person.channel === 'live' ? 'live' : 'test',
    verified: person.verified,
    created_at: timestamp(person.createdAtMs),
    updated_at: timestamp(person.updatedAtMs),
  };
}

function requirePerson(services: Services, params: Readonly<Record<string, string>>): FoundApp & { person: EndUserRecord } {
  const found = requireApp(services, params.app);
  const person = readEndUserById(found.db, found.app.id, params.id ?? '');
  if (person === undefined) throw new Refusal('not_found', `App ${found.app.id} has no person ${params.id ?? ''}.`);
  return { ...found, person };
}

const listEndUsersRoute = appRead('/end-users', ({ app, db }, query) => {
  const externalUserId = query.get('external_user_id');
  if (externalUserId !== null && (externalUserId === '' || !fits(externalUserId, EXTERNAL_USER_ID_MAX_CHARS))) {
    throw new Refusal('invalid_request', `external_user_id must have 1 to ${EXTERNAL_USER_ID_MAX_CHARS} characters.`);
  }
  const { items, next } = pageOf(query, 'id', (after, limit) => listEndUsers(db, { appId: app.id, externalUserId, after, limit }));
  return { end_users: items.map(personToWire), next };
});

const exportEndUserRoute = consoleRoute('GET', '/apps/:app/end-users/:id/export', undefined, async ({ params }, services) => {
  const { app, db, person } = requirePerson(services, params);
  const { vault } = services.storage;
  const said = {
    traits: traitsOfRecord(db, vault, app.id, person.id) ?? {},
    device_traits: deviceTraitsOf(db, vault, app.id, person.id).map(({ deviceId, traits }) => ({ device_id: deviceId, traits })),
  };
  const exported = await exportPerson(db, person.id);
  const body = { exported_at: timestamp(services.nowMs()), end_user: personToWire(person), ...said, ...exported };
  return { kind: 'rendered-json', status: 200, body: await renderInPieces(body, EXPORT_DEPTH) };
});

const eraseEndUserRoute = consoleRoute('DELETE', '/apps/:app/end-users/:id', undefined, async ({ params }, services) => {
  const { app, person } = requirePerson(services, params);
  const { storage } = services;
  const erased = { appId: app.id, endUserId: person.id };
  let conversations = 0;
  for (let done = false; !done; ) {
    const erasure = await storage.write(app.organisationId, 'erasePerson', erased);
    await deleteUploadFiles(storage.layout, app.organisationId, erasure.uploadIds);
    conversations += erasure.conversations;
    done = erasure.done;
  }
  return json({ erased: true, id: person.id, conversations });
});

export const endUserRoutes: readonly Route[] = [listEndUsersRoute, exportEndUserRoute, eraseEndUserRoute];

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
