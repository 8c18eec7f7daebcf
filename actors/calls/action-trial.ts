/** A read that a person tries in the console (SERVERACTION-17), sent as a turn does. Token and shared key are in nothing answered. */
import { checkValues } from '../../assistant/action-params.ts';
import { type ActionRequest, renderRequest } from '../../assistant/http-action/request.ts';
import { Refusal } from '../../protocol/errors.ts';
import { mintId } from '../../protocol/ids.ts';
import { asAction } from '../../protocol/runtime/http-action.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import { readAction } from '../../storage/apps/http-actions.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AppRef } from '../caller.ts';
import type { ActionAttempt, ActionCall, ActionRunner } from './action-runner.ts';

/** Trials of a process that are out. People try one at a time, and an endpoint may take 30 seconds. */
const TRIALS_MAX = 8;
/** In the place of a credential. Headers, cookies and addresses take it as it is. */
const HIDDEN = '***';

export interface TrialOrder extends AppRef {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** As the app would send it in X-Service-User-Token; '': none. */
  readonly userToken: string;
}

export interface ActionTrial extends ActionAttempt {
  /** What was sent, with credentials hidden; null: nothing was, and the outcome says why. */
  readonly request: ActionRequest | null;
  readonly tookMs: number;
}

/** The request as it may be shown: made once more, of stand-ins for what is secret. */
function shownRequest(call: ActionCall): ActionRequest | null {
  const { definition, params, invocationId, userToken } = call;
  const credentials = { invocationId, userToken: userToken === '' ? '' : HIDDEN, sharedKey: HIDDEN, receipt: undefined };
  const rendered = renderRequest(definition, params, credentials);
  return rendered.ok ? rendered.request : null;
}

export class ActionTrials {
  readonly #storage: Storage;
  readonly #runner: Pick<ActionRunner, 'attempt'>;
  readonly #nowMs: () => number;
  #out = 0;

  constructor({ storage, runner, nowMs }: { storage: Storage; runner: Pick<ActionRunner, 'attempt'>; nowMs: () => number }) {
    this.#storage = storage;
    this.#runner = runner;
    this.#nowMs = nowMs;
  }

  /** @throws Refusal 404; 409 conflict: the action changes data or is off; 400 invalid_request naming parameters; 429 rate_limited */
  async call(order: TrialOrder): Promise<ActionTrial> {
    const { organisationId, appId, userToken } = order;
    const definition = this.#definitionOf(order);
    const checked = checkValues(asAction(definition).params, order.params);
    if (!checked.ok) {
      const details = checked.details.map(({ path, message }) => ({ path: path === '' ? 'params' : `params.${path}`, message }));
      throw new Refusal('invalid_request', 'These are not the parameters of the action.', { details });
    }
    if (this.#out >= TRIALS_MAX)
      throw new Refusal('rate_limited', 'Too many actions are tried at the moment. Try again.', { retryAfterS: 5 });
    const invocationId = mintId('inv', this.#nowMs());
    const call: ActionCall = {
      ...{ organisationId, appId, definition, invocationId, userToken, params: checked.params },
      receipt: undefined,
    };
    this.#out++;
    const beganAtMs = performance.now();
    try {
      const attempt = await this.#runner.attempt(call);
      return { ...attempt, request: shownRequest(call), tookMs: Math.round(performance.now() - beganAtMs) };
    } finally {
      this.#out--;
    }
  }

  #definitionOf({ organisationId, appId, name }: TrialOrder): ActionDefinition {
    const action = readAction(this.#storage.organisation(organisationId), appId, name);
    if (action === undefined) throw new Refusal('not_found', `The app has no action ${name} in service.`);
    const { definition, enabled } = action;
    if (definition.risk !== 'read') {
      throw new Refusal('conflict', `${name} changes data: only reads are tried here. A person confirms it in a conversation.`);
    }
    if (!enabled) throw new Refusal('conflict', `${name} is off until somebody enters the key of ${action.host}.`);
    return definition;
  }
}
