/** Console: HTTP actions (SERVERACTION-12) and their shared keys: a key goes in and never comes out in an answer or log. */

import { actionCallBody, actionKeyBody } from '../../protocol/console/sessions.ts';
import type { DeclaredAction, Tried } from '../../protocol/console/setup-answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { countActions, type HttpActionRecord, listActions, readAction } from '../../storage/apps/http-actions.ts';
import { sealSharedKey } from '../../storage/apps/shared-keys.ts';
import { json, type Route } from '../route.ts';
import { appRead, appRoute } from './app-read.ts';
import { pageOf } from './pages.ts';

function actionToWire(action: HttpActionRecord): DeclaredAction {
  return {
    id: action.id,
    ...action.definition,
    needs_key: action.definition.needs_key ?? null,
    host: action.host,
    has_key: action.hasKey,
    enabled: action.enabled,
    origin: action.origin,
    reason: action.reason,
    archived_at: timestamp(action.archivedAtMs),
    created_at: timestamp(action.createdAtMs),
    updated_at: timestamp(action.updatedAtMs),
  };
}

const listActionsRoute = appRead('/actions', ({ app, db }, query) => {
  const { items, next } = pageOf(query, 'id', (after, limit) => listActions(db, app.id, after, limit));
  return { facts: countActions(db, app.id), actions: items.map(actionToWire), next };
});

const putActionKeyRoute = appRoute('PUT', '/actions/:name/key', actionKeyBody, async ({ app, db }, { params, body }, services) => {
  const { storage } = services;
  const name = params.name ?? '';
  const host = readAction(db, app.id, name)?.host;
  if (host === undefined) throw new Refusal('not_found', `The app has no action ${name} in service.`);
  const sealed = sealSharedKey(storage.vault, app.id, host, body.value);
  const input = { appId: app.id, name, host, sealed, nowMs: services.nowMs() };
  const { actions } = await storage.write(app.organisationId, 'setSharedKey', input);
  return json({ saved: true, host, actions });
});

const callActionRoute = appRoute(
  'POST',
  '/actions/:name/call',
  actionCallBody,
  async ({ app: { id: appId, organisationId } }, { params, body }, services) => {
    const order = { organisationId, appId, name: params.name ?? '', params: body.params, userToken: body.user_token };
    const { request, status, tookMs, outcome } = await services.trials.call(order);
    return json<Tried>({
      request: request === null ? null : { ...request, url: request.url.href, body: request.body ?? null },
      status,
      took_ms: tookMs,
      outcome: outcome.outcome,
      result: outcome.outcome === 'succeeded' ? outcome.result : null,
      error: outcome.outcome === 'succeeded' ? null : outcome.error,
    });
  },
);

const deleteActionKeyRoute = appRoute(
  'DELETE',
  '/actions/:name/key',
  undefined,
  async ({ app: { id: appId, organisationId } }, { params }, services) => {
    const { hosts, actions } = await services.storage.write(organisationId, 'deleteSharedKey', { appId, name: params.name ?? '' });
    return json({ removed: true, hosts, actions });
  },
);

export const actionRoutes: readonly Route[] = [listActionsRoute, putActionKeyRoute, deleteActionKeyRoute, callActionRoute];
