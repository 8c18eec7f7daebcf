/** Calls that wait for a person, as rows of a served app, for tests that set the clock. */
import type { TestContext } from 'node:test';
import { request } from 'undici';
import { confirmCardBody } from '../../../actors/calls/card-body.ts';
import { Confirmations } from '../../../actors/calls/confirmation.ts';
import { invocationRoutes } from '../../../gateway/runtime/invocations.ts';
import { fallbackText } from '../../../protocol/catalog/catalog.ts';
import { mintId } from '../../../protocol/ids.ts';
import { completeManifest, type ManifestAction } from '../../../protocol/runtime/manifest.ts';
import type { InvocationState } from '../../../protocol/runtime/states.ts';
import { mintIdentitySecret, sealIdentitySecret } from '../../../storage/apps/identity-secrets.ts';
import { insertBlocks, readBlockById } from '../../../storage/conversations/blocks.ts';
import { insertInvocations, readInvocationById } from '../../../storage/conversations/invocations.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';
import { storeTurn } from '../../storage/conversations/stored-turns.ts';
import { serve } from '../test-server.ts';
import { type RuntimeApp, serveApp } from './runtime-app.ts';

export const EXPIRES_AT_MS = Date.UTC(2026, 10, 20, 12);
const OWNER = 'a'.repeat(32);

const [MOVE] = completeManifest({
  version: '1',
  actions: [
    {
      name: 'move_delivery',
      description: 'Moves a delivery.',
      risk: 'write',
      confirm_template: 'Deliver on {day}?',
      params: { day: { type: 'string', required: true, enum: ['monday', 'tuesday'], editable: true } },
    },
  ],
}).actions as [ManifestAction];

export interface AskedRows {
  readonly app: RuntimeApp;
  readonly confirmations: Confirmations;
  /** Ids of new calls, one conversation each, that run out at EXPIRES_AT_MS. */
  add(count: number, state?: InvocationState): string[];
  post(id: string, path: 'confirm' | 'edit', body: unknown): Promise<{ status: number; json: Record<string, unknown> }>;
  /** State, status of the card, revision of call and card. */
  seen(id: string): { state: string | undefined; card: unknown; editState: unknown; revisions: unknown[]; params: unknown };
}

export async function serveAskedRows(t: TestContext, nowMs: () => number): Promise<AskedRows> {
  const app = await serveApp(t, []);
  await app.patch({ messages_per_minute: 100_000 });
  const { storage, organisationId, appId } = app;
  const sealed = sealIdentitySecret(storage.vault, appId, mintIdentitySecret());
  await storage.write(organisationId, 'rotateIdentitySecret', { appId, sealed, nowMs: 0 });
  const confirmations = new Confirmations({ storage, nowMs });
  const { base } = await serve(t, invocationRoutes, { storage, confirmations });
  const add = (state: InvocationState) => {
    const ids = { id: mintId('inv', 0), conversationId: mintId('cnv', 0), messageId: mintId('msg', 0), blockId: mintId('blk', 0) };
    const { conversationId, messageId, blockId } = ids;
    const params = { day: 'monday' };
    const body = confirmCardBody(MOVE, { invocationId: ids.id, params, expiresAtMs: EXPIRES_AT_MS }, null);
    const db = openWriter(storage.layout.organisation(organisationId));
    db.statement(
      `INSERT INTO conversations (id, app_id, channel, device_id, epoch, created_at_ms, updated_at_ms)
       VALUES (:conversationId, :appId, 'sandbox', :device, 1, 0, 0)`,
    ).run({ conversationId, appId, device: OWNER });
    const of = { appId, conversationId, turnId: ids.id, answer: messageId };
    const turn = storeTurn(db, { ...of, state: 'awaiting_confirmation', atMs: 0, endedAtMs: null });
    insertBlocks(db, conversationId, messageId, [
      {
        id: blockId,
        position: 0,
        blockType: 'confirm_card',
        revision: 1,
        body: JSON.stringify(body),
        fallbackText: fallbackText('confirm_card', body),
      },
    ]);
    insertInvocations(db, { appId, conversationId, turn, messageId, nowMs: 0 }, [
      {
        id: ids.id,
        callId: 'call_1',
        name: MOVE.name,
        params: JSON.stringify(params),
        risk: 'write',
        executor: 'client',
        timeoutMs: 1_000,
        state,
        blockId,
        expiresAtMs: EXPIRES_AT_MS,
        definition: JSON.stringify({ action: MOVE, locale: null, http: null }),
      },
    ]);
    db.close();
    return ids.id;
  };
  return {
    app,
    confirmations,
    add: (count, state = 'pending.clean') => Array.from({ length: count }, () => add(state)),
    async post(id, path, body) {
      const answer = await request(`${base}/v1/invocations/${id}/${path}`, {
        method: 'POST',
        headers: { 'X-Service-Key': app.test, 'X-Service-Device': OWNER, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.statusCode, json: (await answer.body.json()) as Record<string, unknown> };
    },
    seen(id) {
      const db = storage.organisation(organisationId);
      const row = readInvocationById(db, id);
      const block = row?.blockId == null ? undefined : readBlockById(db, row.blockId);
      return {
        state: row?.state,
        card: block?.body.status,
        editState: block?.body.edit_state,
        revisions: [row?.revision, block?.revision],
        params: row?.params,
      };
    },
  };
}
