/** Who is signed in on this installation, with device and token (CLIENT-16, CLIENT-27), and the binding of the device to them. */
import * as v from 'valibot';
import { type IdentifyReply, type IdentifyRequest, identifyRequest } from '../../../protocol/runtime/identify.ts';
import { isRecord, mustBe, parsedJson, told } from '../json.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../surroundings.ts';
import { orLogged } from '../transport/failure.ts';
import { inTime, LATE, type Patience, patiently } from '../transport/pause.ts';
import type { Ground, Sender } from '../transport/requests.ts';
import type { Device } from './device.ts';

/** The person's own token, or who is asked for one whenever the one of before holds no more. */
export type UserToken = string | (() => string | undefined | Promise<string | undefined>);

export interface SignedPerson {
  readonly id: string;
  /** Lowercase hex HMAC-SHA256 of `id`, made by the app's backend. */
  readonly hmac?: string | undefined;
  readonly traits?: Readonly<Record<string, unknown>> | undefined;
  /** For actions that the service runs. Left out: as it was, where it is the same person or the first. */
  readonly userToken?: UserToken | undefined;
}

/** As turns name them: null is nobody, undefined leaves it to the device's binding. */
export type TurnUser = { id: string; hmac?: string } | null | undefined;

/** A turn may run actions for so long after it was sent. */
const TOKEN_LEFT_MIN_MS = 60_000;

/** When a JWT is over; undefined of any other token. */
function endOf(token: string): number | undefined {
  const [, claims = ''] = token.split('.');
  try {
    const said = parsedJson(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
    return isRecord(said) && typeof said.exp === 'number' ? said.exp * 1000 : undefined;
  } catch {
    // Not base64, or a platform without `atob`: then a refusal says so.
    return undefined;
  }
}

export class Person implements Sender {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #log: Log;
  /** Until it is settled nothing is sent. */
  on: Device = { id: '', holder: '' };
  #user: TurnUser;
  #given: UserToken | undefined;
  #token: string | undefined;

  /** `user`: who is signed in at the start; undefined when the app does not say. `waitMs`: a token may take so long. */
  constructor(user: TurnUser, userToken: UserToken | undefined, clock: Clock, waitMs: number, log: Log) {
    this.#user = user;
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#log = log;
    this.carry(userToken);
  }

  get user(): TurnUser {
    return this.#user;
  }

  get id(): string | null {
    return this.#user?.id ?? null;
  }

  get device(): string {
    return this.on.id;
  }

  get header(): string | undefined {
    const user = this.#user;
    return user?.hmac === undefined ? undefined : `${encodeURIComponent(user.id)}:${user.hmac}`;
  }

  get token(): string | undefined {
    return this.#token;
  }

  is({ id, hmac, userToken }: SignedPerson): void {
    this.#user = { id, ...(hmac === undefined ? {} : { hmac }) };
    if (userToken !== undefined) this.carry(userToken);
  }

  leave(): void {
    this.#user = null;
    this.carry(undefined);
  }

  carry(userToken: UserToken | undefined): void {
    this.#given = userToken;
    this.#token = typeof userToken === 'function' ? undefined : userToken;
  }

  async renewToken(): Promise<void> {
    const given = this.#given;
    if (typeof given !== 'function') return;
    const nowMs = this.#clock.nowMs();
    if (this.#token !== undefined && (endOf(this.#token) ?? Number.POSITIVE_INFINITY) - nowMs > TOKEN_LEFT_MIN_MS) return;
    try {
      const token = await inTime(this.#clock, this.#waitMs, given);
      if (token === LATE) this.#log.say('warn', 'user_token_failed', { reason: 'late' });
      else if (this.#given === given) this.#token = token;
    } catch (error) {
      this.#log.say('error', 'user_token_failed', { error });
    }
  }

  tokenRefused(): void {
    if (typeof this.#given === 'function') this.#token = undefined;
  }
}

/** What the app calls the fields of the wire. */
const OWN_NAMES: Readonly<Record<string, string>> = { external_user_id: 'id', user_hmac: 'hmac' };

/** What binds the device to a person, whom the app calls `name`. @throws TypeError that names the field in the app's words, what came and what is wanted */
export function bindingOf(person: unknown, name: string): IdentifyRequest {
  mustBe(isRecord(person), name, 'an object with an id', person);
  const { id, hmac, traits } = person;
  const binding = { external_user_id: id, user_hmac: hmac ?? undefined, traits: traits ?? undefined };
  const checked = v.safeParse(identifyRequest, binding);
  if (checked.success) return checked.output;
  const [{ path, message }] = checked.issues;
  const field = String(path?.[0]?.key);
  throw new TypeError(`${name}.${OWN_NAMES[field] ?? field} ${message}: ${told(path?.[0]?.value)} came.`);
}

/** Binds the device to a person and records what the app says of them. @throws ClientError when it was refused: nothing changed */
export async function identify({ requests, log }: Ground, patience: Patience, person: SignedPerson): Promise<IdentifyReply> {
  const body = { ...bindingOf(person, 'identify') };
  const send = () => requests.object<IdentifyReply>({ method: 'POST', path: '/v1/identify', body });
  return orLogged(log, 'error', 'identify_failed', () => patiently(patience, send));
}
