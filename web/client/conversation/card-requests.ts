/** Sends what a person answers to a confirmation card, and changes of it, and reports what the service recorded (CLIENT-11). */
import type { ConfirmReply, EditReply } from '../../../protocol/runtime/invocations.ts';
import { failureOf, logged } from '../transport/failure.ts';
import { patiently } from '../transport/pause.ts';
import type { Call, Decision } from './calls.ts';
import type { OpinionsParts } from './opinions.ts';

export type CardParts = Pick<OpinionsParts, 'requests' | 'patience' | 'log' | 'store'>;

function refused({ log, store }: CardParts, invocationId: string, error: unknown): void {
  const failure = failureOf(error);
  log.say('warn', 'decision_failed', { invocation_id: invocationId, ...logged(failure) });
  store.send({ type: 'cardRefused', invocationId, failure });
}

/** The first answer counts, so one whose reply was lost is sent again: then an earlier answer may be this one, and an older service does not say. */
export async function sendDecision(
  parts: CardParts,
  { invocation_id: invocationId, revision, decisionId, isAgain }: Call,
  decision: Decision,
  typed: string | undefined,
): Promise<void> {
  const body = { decision, typed, revision, decision_id: decisionId };
  const path = `/v1/invocations/${encodeURIComponent(invocationId)}/confirm`;
  let tries = 0;
  try {
    const reply = await patiently(parts.patience, () => {
      tries += 1;
      return parts.requests.object<ConfirmReply>({ method: 'POST', path, body });
    });
    const isOurs = reply.already_answered !== true || (reply.yours ?? (isAgain === true || tries > 1));
    parts.store.send({ type: 'decided', invocationId, reply, isOurs });
  } catch (error) {
    refused(parts, invocationId, error);
  }
}

type Values = Readonly<Record<string, unknown>>;

/** Sent once: a change that was taken and not answered has made another revision, which a conflict or the history will show. */
export async function sendEdit(parts: CardParts, { invocation_id: invocationId, revision = 1 }: Call, values: Values): Promise<void> {
  const path = `/v1/invocations/${encodeURIComponent(invocationId)}/edit`;
  try {
    const reply = await parts.requests.object<EditReply>({ method: 'POST', path, body: { revision, params: values } });
    parts.store.send({ type: 'edited', invocationId, values, revision: reply.revision, block: reply.block });
  } catch (error) {
    refused(parts, invocationId, error);
  }
}
