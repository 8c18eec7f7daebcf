/** Runs one call of an HTTP action. Invariant: the person's token and the shared key are in memory only, and in nothing answered. */
import type { CallOutcome, HttpActionCaller } from '../../assistant/http-action/call.ts';
import { createResultCutter, type ResultCutter } from '../../assistant/http-action/large-result.ts';
import { renderRequest } from '../../assistant/http-action/request.ts';
import { hiderOf, shownError } from '../../assistant/http-action/result.ts';
import { HTTP_ACTION_ANSWER_MAX_BYTES } from '../../protocol/limits.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import { hostOf, readActionByKey } from '../../storage/apps/http-actions.ts';
import { openSharedKey, readSharedKey } from '../../storage/apps/shared-keys.ts';
import type { Storage } from '../../storage/storage.ts';

export interface ActionCall {
  readonly organisationId: string;
  readonly appId: string;
  /** As it was when the call was made; a write's, as it was when the person was asked. */
  readonly definition: ActionDefinition;
  readonly invocationId: string;
  /** Checked against the definition, placeholders restored. */
  readonly params: Readonly<Record<string, unknown>>;
  /** X-Service-User-Token of the request that runs the call; undefined or empty when there was none. */
  readonly userToken: string | undefined;
  /** The signed receipt of a confirmed call (receipt.ts). */
  readonly receipt: string | undefined;
  readonly signal?: AbortSignal;
}

export type ActionOutcome =
  /** `result` is JSON of at most 16 KB. It is the endpoint's: data, to be fenced. */
  | { readonly outcome: 'succeeded'; readonly result: string }
  /** `error` has at most 500 characters and may hold the endpoint's words: to be fenced. `outage`: the app's server is away, in our words. */
  | { readonly outcome: 'failed' | 'unknown'; readonly error: string; readonly isTokenRefused?: true; readonly outage?: string };

/** `status` null: the endpoint gave none. */
export interface ActionAttempt {
  readonly outcome: ActionOutcome;
  readonly status: number | null;
}

export type ActionRunner = ReturnType<typeof createActionRunner>;

type FoundKey = { readonly key: string | undefined } | { readonly error: string };

/** The shared key that the call goes out with, unless the action was taken out of service or moved to another host since. */
function sharedKeyOf(storage: Storage, { organisationId, appId, definition }: ActionCall): FoundKey {
  const db = storage.organisation(organisationId);
  const host = hostOf(definition);
  const action = readActionByKey(db, appId, definition.external_key);
  // It may have been moved because the old host is not to be trusted any more.
  if (action?.enabled !== true || action.host !== host) return { error: `The action ${definition.name} is not available any more.` };
  if (definition.needs_key === undefined) return { key: undefined };
  const sealed = readSharedKey(db, appId, host);
  try {
    return { key: sealed === undefined ? undefined : openSharedKey(storage.vault, appId, host, sealed) };
  } catch {
    return { error: `The shared key of the action ${definition.name} cannot be read: a person has to enter it again.` };
  }
}

/** Statuses that do not say whether a write was done: a redirect often follows one that was, and a proxy may have given up waiting. */
function leavesOpen(status: number): boolean {
  return (status >= 300 && status < 400) || status === 502 || status === 504;
}

/** The person's token is none, or is over; 403 says that it holds, and is not enough. */
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** An answer that says nothing of the request: the server is away, broken, or does not know this service. */
function isOutage(status: number | undefined): boolean {
  return status === undefined || status >= 500 || status === UNAUTHORIZED || status === FORBIDDEN;
}

type Secrets = readonly (string | undefined)[];

async function outcomeOf(
  called: CallOutcome,
  definition: ActionDefinition,
  secrets: Secrets,
  cutter: ResultCutter,
): Promise<ActionOutcome> {
  if (called.kind === 'ok') return { outcome: 'succeeded', result: await cutter.shown(definition, called, secrets) };
  const hide = hiderOf(secrets);
  if (called.kind === 'failed' && definition.risk !== 'read' && leavesOpen(called.answer?.status ?? 0)) {
    return {
      outcome: 'unknown',
      error: shownError(`${called.reason} Whether the action was carried out is not known.`, called.answer, hide),
      ...(isOutage(called.answer?.status) ? { outage: called.reason } : {}),
    };
  }
  const answer = called.kind === 'failed' ? called.answer : undefined;
  const isTokenRefused = definition.auth === 'user' && answer?.status === UNAUTHORIZED;
  return {
    outcome: called.kind,
    error: shownError(called.reason, answer, hide),
    ...(isTokenRefused ? { isTokenRefused } : isOutage(answer?.status) ? { outage: called.reason } : {}),
  };
}

function statusOf(called: CallOutcome): number | null {
  if (called.kind === 'ok') return called.status;
  return called.kind === 'failed' ? (called.answer?.status ?? null) : null;
}

export function createActionRunner({ storage, caller }: { readonly storage: Storage; readonly caller: HttpActionCaller }) {
  const cutter = createResultCutter();
  /** Never rejects for what an endpoint, a network or a person does. */
  const attempt = async (call: ActionCall): Promise<ActionAttempt> => {
    const { definition, params, invocationId, userToken, receipt, signal } = call;
    const found = sharedKeyOf(storage, call);
    if ('error' in found) return { outcome: { outcome: 'failed', error: found.error }, status: null };
    const credentials = { invocationId, userToken, sharedKey: found.key, receipt };
    const rendered = renderRequest(definition, params, credentials);
    if (!rendered.ok) return { outcome: { outcome: 'failed', error: rendered.reason }, status: null };
    const called = await caller.call(rendered.request, {
      timeoutMs: definition.timeout_ms,
      maxBytes: HTTP_ACTION_ANSWER_MAX_BYTES,
      ...(signal === undefined ? {} : { signal }),
    });
    return { outcome: await outcomeOf(called, definition, [userToken, found.key, receipt], cutter), status: statusOf(called) };
  };
  return {
    close: () => cutter.close(),
    attempt,
    run: async (call: ActionCall) => (await attempt(call)).outcome,
  };
}
