/** Who is signed in on this installation, as the app says it, and the binding of the device to them (CLIENT-16). */
import type { IdentifyReply } from '../../../protocol/runtime/identify.ts';
import type { Log } from '../log.ts';
import { failureOf, logged } from '../transport/failure.ts';
import { type Patience, patiently } from '../transport/patience.ts';
import type { Requests } from '../transport/requests.ts';

export interface SignedPerson {
  readonly id: string;
  /** Lowercase hex HMAC-SHA256 of `id`, made by the app's backend. */
  readonly hmac?: string;
  readonly traits?: Readonly<Record<string, unknown>>;
}

/** As turns name them: null is nobody, undefined leaves it to the device's binding. */
export type TurnUser = { id: string; hmac?: string } | null | undefined;

export class Person {
  #user: TurnUser;

  /** `user`: who is signed in at the start; undefined when the app does not say. */
  constructor(user: TurnUser) {
    this.#user = user;
  }

  get user(): TurnUser {
    return this.#user;
  }

  /** Whose conversations these are: null for nobody. */
  get id(): string | null {
    return this.#user?.id ?? null;
  }

  /** `X-Service-User`; only a signature proves anything there. */
  get header(): string | undefined {
    const user = this.#user;
    return user?.hmac === undefined ? undefined : `${encodeURIComponent(user.id)}:${user.hmac}`;
  }

  /** The app says who is signed in now. */
  is(user: TurnUser): void {
    this.#user = user;
  }
}

/** Binds the device to a person and records what the app says of them. @throws ClientError when it was refused: nothing changed */
export async function identify(requests: Requests, patience: Patience, log: Log, person: SignedPerson): Promise<IdentifyReply> {
  const { id, hmac, traits } = person;
  const body = {
    external_user_id: id,
    ...(hmac === undefined ? {} : { user_hmac: hmac }),
    ...(traits === undefined ? {} : { traits }),
  };
  try {
    return await patiently(patience, () => requests.object<IdentifyReply>({ method: 'POST', path: '/v1/identify', body }));
  } catch (error) {
    log.say('error', 'identify_failed', logged(failureOf(error)));
    throw error;
  }
}
