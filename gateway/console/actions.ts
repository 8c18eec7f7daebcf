/**
 * Console: an app's HTTP actions (SERVERACTION-12) and the shared keys that a person enters for them.
 * A key goes in and never comes out: no answer and no log holds it.
 */

import { actionCallBody, actionKeyBody } from '../../protocol/console/sessions.ts';
import type { DeclaredAction, Tried } from '../../protocol/console/setup-answers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { timestamp } from '../../protocol/timestamp.ts';
import { countActions, type HttpActionRecord, listActions, readAction } from '../../storage/apps/http-actions.ts';
import { sealSharedKey } from '../../storage/apps/shared-keys.ts';
import { defineRoute, json } from '../route.ts';
import { appRead } from './app-read.ts';
import { requireApp } from './lookup.ts';
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

export const listActionsRoute = appRead('/actions', ({ app, db }, query) => {
  const { items, next } = pageOf(query, 'id', (after, limit) => listActions(db, app.id, after, limit));
  return { facts: countActions(db, app.id), actions: items.map(actionToWire), next };
});

export const putActionKeyRoute = defineRoute({
  method: 'PUT',
  path: '/console/api/apps/:app/actions/:name/key',
  caller: 'operator',
  body: actionKeyBody,
  async handle({ params, body }, services) {
    const { app, db } = requireApp(services, params.app);
    const { storage } = services;
    const name = params.name ?? '';
    const host = readAction(db, app.id, name)?.host;
    if (host === undefined) throw new Refusal('not_found', `The app has no action ${name} in service.`);
    const sealed = sealSharedKey(storage.vault, app.id, host, body.value);
    const input = { appId: app.id, name, host, sealed, nowMs: services.nowMs() };
    const { actions } = await storage.write(app.organisationId, 'setSharedKey', input);
    return json({ saved: true, host, actions });
  },
});

export const callActionRoute = defineRoute({
  method: 'POST',
  path: '/console/api/apps/:app/actions/:name/call',
  caller: 'operator',
  body: actionCallBody,
  async handle({ params, body }, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
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
});

export const deleteActionKeyRoute = defineRoute({
  method: 'DELETE',
  path: '/console/api/apps/:app/actions/:name/key',
  caller: 'operator',
  async handle({ params }, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    const { hosts, actions } = await services.storage.write(organisationId, 'deleteSharedKey', { appId, name: params.name ?? '' });
    return json({ removed: true, hosts, actions });
  },
});
