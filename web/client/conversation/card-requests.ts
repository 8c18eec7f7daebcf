/** Sends what a person answers to a confirmation card, and changes of it, and reports what the service recorded (CLIENT-11). */
import type { ConfirmReply, EditReply } from '../../../protocol/runtime/invocations.ts';
import type { Log } from '../log.ts';
import { failureOf, logged } from '../transport/failure.ts';
import { type Patience, patiently } from '../transport/patience.ts';
import type { Requests } from '../transport/requests.ts';
import type { Call, Decision } from './calls.ts';
import type { ConversationStore } from './logic.ts';

export class CardRequests {
  readonly #requests: Requests;
  readonly #patience: Patience;
  readonly #log: Log;
  readonly #store: ConversationStore;

  constructor(requests: Requests, patience: Patience, log: Log, store: ConversationStore) {
    this.#requests = requests;
    this.#patience = patience;
    this.#log = log;
    this.#store = store;
  }

  /** The first answer counts, so one whose reply was lost is sent again: then an earlier answer may be this one, and an older service does not say. */
  async decide(
    { invocation_id: invocationId, revision, decisionId, isAgain }: Call,
    decision: Decision,
    typed: string | undefined,
  ): Promise<void> {
    const body = { decision, typed, revision, decision_id: decisionId };
    const path = `/v1/invocations/${encodeURIComponent(invocationId)}/confirm`;
    let tries = 0;
    try {
      const reply = await patiently(this.#patience, () => {
        tries += 1;
        return this.#requests.object<ConfirmReply>({ method: 'POST', path, body });
      });
      const isOurs = reply.already_answered !== true || (reply.yours ?? (isAgain === true || tries > 1));
      this.#store.send({ type: 'decided', invocationId, reply, isOurs });
    } catch (error) {
      this.#refused(invocationId, error);
    }
  }

  /** Sent once: a change that was taken and not answered has made another revision, which a conflict or the history will show. */
  async edit({ invocation_id: invocationId, revision }: Call, values: Readonly<Record<string, unknown>>): Promise<void> {
    const path = `/v1/invocations/${encodeURIComponent(invocationId)}/edit`;
    const body = { revision: revision ?? 1, params: values };
    try {
      const reply = await this.#requests.object<EditReply>({ method: 'POST', path, body });
      this.#store.send({ type: 'edited', invocationId, values, revision: reply.revision, block: reply.block });
    } catch (error) {
      this.#refused(invocationId, error);
    }
  }

  #refused(invocationId: string, error: unknown): void {
    const failure = failureOf(error);
    this.#log.say('warn', 'decision_failed', { invocation_id: invocationId, ...logged(failure) });
    this.#store.send({ type: 'cardRefused', invocationId, failure });
  }
}
