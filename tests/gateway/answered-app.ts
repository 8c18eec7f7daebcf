/** An app in real storage in which people were answered, served with the routes about that, a clock and watched devices. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../actors/announcements.ts';
import { Pairings } from '../../actors/pairing/pairings.ts';
import type { WatchedTurn } from '../../actors/turns/device-watchers.ts';
import { listConversationsRoute, readConversationRoute } from '../../gateway/console/conversations.ts';
import { listFeedbackRoute } from '../../gateway/console/end-users.ts';
import { openPairingRoute, pairingStreamRoute, readPairingRoute } from '../../gateway/console/pairings.ts';
import { feedbackRoute, ratingsRoute } from '../../gateway/runtime/feedback.ts';
import { pairingClaimRoute } from '../../gateway/runtime/pairings.ts';
import type { AppSettingsPatch } from '../../protocol/console/app-settings.ts';
import { createApp } from '../../storage/apps/app-creation.ts';
import { insertBlocks } from '../../storage/conversations/blocks.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { openWriter } from '../../storage/sqlite/database.ts';
import type { Storage } from '../../storage/storage.ts';
import { storeApp } from '../actors/setup/app-in-storage.ts';
import { storeTurn } from '../storage/conversations/stored-turns.ts';
import { serve, type TestServer } from './test-server.ts';

export const START = Date.UTC(2026, 10, 21, 10);
export const DEVICE = 'a'.repeat(32);
export const OTHER_DEVICE = 'b'.repeat(32);
export const OPERATOR_TOKEN = 'operator-token-of-these-tests';

export interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
  /** The code of an error answer, '' else. */
  readonly code: string;
  readonly message: string;
}

export interface TestKeys {
  readonly appId: string;
  readonly live: string;
  readonly test: string;
}

export interface AnsweredApp extends TestServer, TestKeys {
  readonly storage: Storage;
  readonly organisationId: string;
  /** Begins at START; tests set it. */
  readonly clock: { nowMs: number };
  /** Who watches which device, and how to tell them of a turn. */
  readonly watchers: { readonly deviceId: string; readonly appId: string; tell(turn: WatchedTurn): void }[];
  patch(patch: AppSettingsPatch): Promise<void>;
  /** Another live app of the same organisation. */
  otherApp(): Promise<TestKeys>;
  /** Writes rows behind the service's back. */
  rows<Result>(write: (db: Connection) => Result): Result;
  /** A request of an SDK on DEVICE with the test key, unless the headers say otherwise ('' leaves one out). */
  sdk(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>;
  console(method: string, path: string, headers?: Record<string, string>): Promise<Told>;
}

async function told(response: Response): Promise<Told> {
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  const error = (json.error ?? {}) as { code?: string; message?: string };
  return { status: response.status, text, headers: response.headers, json, code: error.code ?? '', message: error.message ?? '' };
}

function goLive(storage: Storage, organisationId: string, appId: string): Promise<unknown> {
  return storage.write(organisationId, 'goLive', { appId, organisationId, nowMs: START });
}

export async function serveAnsweredApp(t: TestContext): Promise<AnsweredApp> {
  const { storage, organisationId, appId, keys } = await storeApp(t, START);
  await goLive(storage, organisationId, appId);
  const clock = { nowMs: START };
  const nowMs = () => clock.nowMs;
  const watchers: AnsweredApp['watchers'] = [];
  const actors = {
    watchDevice(key: { appId: string; deviceId: string }, listener: (turn: WatchedTurn) => void) {
      const watcher = { deviceId: key.deviceId, appId: key.appId, tell: listener };
      watchers.push(watcher);
      return () => void watchers.splice(watchers.indexOf(watcher), 1);
    },
  };
  const pairings = new Pairings({ storage, actors, others: silentAnnouncer, log: pino({ level: 'silent' }), nowMs });
  t.after(() => pairings.close());
  const routes = [
    ...[feedbackRoute, ratingsRoute, pairingClaimRoute, openPairingRoute, readPairingRoute, pairingStreamRoute],
    ...[listConversationsRoute, readConversationRoute, listFeedbackRoute],
  ];
  const config = { publicUrl: undefined, operatorToken: OPERATOR_TOKEN, allowPrivateAddresses: false };
  const server = await serve(t, routes, { config, storage, nowMs, pairings });
  const rows: AnsweredApp['rows'] = (write) => {
    const db = openWriter(storage.layout.organisation(organisationId));
    try {
      return write(db);
    } finally {
      db.close();
    }
  };
  return {
    ...server,
    ...keys,
    appId,
    storage,
    organisationId,
    clock,
    watchers,
    rows,
    async patch(patch) {
      await storage.write(organisationId, 'patchApp', { appId, organisationId, patch, nowMs: START });
    },
    async otherApp() {
      const other = await createApp(storage, { organisationId, name: 'Other', platformHint: 'web', settings: {}, nowMs: START });
      await goLive(storage, organisationId, other.app.id);
      return { appId: other.app.id, live: other.keys.live, test: other.keys.test };
    },
    async sdk(method, path, body, headers = {}) {
      const all = { 'X-Service-Key': keys.test, 'X-Service-Device': DEVICE, 'Content-Type': 'application/json', ...headers };
      const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
      const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
      return told(await fetch(server.base + path, { method, headers: sent, body: text }));
    },
    async console(method, path, headers = {}) {
      const all = { Authorization: `Bearer ${OPERATOR_TOKEN}`, ...headers };
      return told(await fetch(`${server.base}/console/api${path}`, { method, headers: all }));
    },
  };
}

export interface Conversed {
  readonly conversationId: string;
  readonly userMessageId: string;
  readonly messageId: string;
  readonly turnId: string;
}

let made = 0;

/** A conversation with one question and one answer; `blocks` are those of the answer, [type, body]. */
export function converse(
  app: Pick<AnsweredApp, 'rows' | 'appId'>,
  more: {
    readonly channel?: Channel;
    readonly deviceId?: string;
    readonly appId?: string;
    readonly atMs?: number;
    readonly question?: string;
    readonly blocks?: readonly (readonly [string, object])[];
  } = {},
): Conversed & { readonly blockIds: readonly string[] } {
  const { channel = 'sandbox', deviceId = DEVICE, appId = app.appId, atMs = START, blocks = [['text', { md: 'Two days.' }]] } = more;
  made += 1;
  const n = String(made).padStart(24, '0');
  const [conversationId, userMessageId, messageId] = [`cnv_${n}`, `msg_u${n.slice(1)}`, `msg_a${n.slice(1)}`];
  const turnId = `00000000-0000-4000-8000-${n.slice(12)}`;
  const newBlock = (id: string, position: number, blockType: string, body: object) => {
    return { id, position, blockType, revision: 1, body: JSON.stringify(body), fallbackText: null };
  };
  const blockIds = blocks.map((_, at) => `blk_${at}${n.slice(1)}`);
  app.rows((db) => {
    db.statement(
      `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
       VALUES (:conversationId, :appId, :channel, :deviceId, 1, :atMs, :atMs)`,
    ).run({ conversationId, appId, channel, deviceId, atMs });
    storeTurn(db, { appId, turnId, conversationId, deviceId, model: 'offline', atMs, asked: userMessageId, answer: messageId });
    insertBlocks(db, conversationId, userMessageId, [newBlock(`blk_u${n.slice(1)}`, 0, 'text', { md: more.question ?? 'How long?' })]);
    insertBlocks(
      db,
      conversationId,
      messageId,
      blocks.map(([type, body], at) => newBlock(blockIds[at] as string, at, type, body)),
    );
  });
  return { conversationId, userMessageId, messageId, turnId, blockIds };
}

export const RATING = { prompt: 'How was it?', scale: 5, style: 'stars', comment: true, status: 'open' };

/** The answer is this refusal, in words that say so. */
export function assertRefused(answer: Told, status: number, code: string, message: RegExp): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  assert.match(answer.message, message);
}
