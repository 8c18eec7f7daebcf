/**
 * Owns changes of who is signed in (CLIENT-16): one after the other, the one before gone before the next one is known, and nothing sent
 * meanwhile. Who that is then is `person.ts`.
 */
import type { IdentifyReply } from '../../../protocol/runtime/identify.ts';
import { ClientError, failureOf, ownFailure } from '../transport/failure.ts';
import type { Ground } from '../transport/requests.ts';
import { deviceOf } from './device.ts';
import type { OpenConversation } from './open-conversation.ts';
import { identify, type Person, type SignedPerson, type UserToken } from './person.ts';
import type { Telemetry } from './telemetry.ts';

export interface SignInParts extends Ground {
  readonly name: string;
  readonly person: Person;
  readonly opened: OpenConversation;
  readonly telemetry: Telemetry;
  /** Told after every change whether the person who is here signed. */
  readonly signed: (isSigned: boolean) => void;
  readonly ready: () => Promise<void>;
}

export class SignIn {
  readonly #parts: SignInParts;
  /** Resolves after the last change. Never rejects. */
  #settled: Promise<void>;
  #overtake: (error: ClientError) => void = () => {};
  /** Whom the app named last; it may be under way. */
  #wanted: string | null;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#wanted = parts.person.id;
    this.#settled = Promise.resolve().then(parts.ready);
  }

  /** When it is known who is here, after changes that came meanwhile as well. */
  async known(): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== this.#settled; ) {
      seen = this.#settled;
      await seen;
    }
  }

  async arrive(): Promise<void> {
    const { person, opened } = this.#parts;
    await this.#settleDevice(person.user === undefined ? undefined : (person.id ?? ''), false);
    if (person.on.isAnother === true) opened.tell(true);
  }

  resume(): void {
    this.#settled = this.#settled.then(async () => {
      await this.arrive();
      await this.#parts.opened.again();
    });
  }

  identify(signed: SignedPerson): Promise<IdentifyReply> {
    return this.#change(signed.id, async (overtaken, before) => {
      try {
        const reply = await this.#bound(signed, overtaken);
        this.#parts.person.is(signed);
        this.#tell();
        return reply;
      } catch (error) {
        if (!failureOf(error).retryable) await this.#settleDevice(before, true);
        throw error;
      }
    });
  }

  signOut(): Promise<void> {
    return this.#change(null, async () => {
      this.#parts.person.leave();
      this.#tell();
    });
  }

  /** Behind a change that is under way, and only if it comes to that: a token is of the person that it came with. */
  setUserToken(token: UserToken | undefined): void {
    const wanted = this.#wanted;
    const { person } = this.#parts;
    void this.known().then(() => {
      if (person.id === wanted) person.carry(token);
    });
  }

  /** `work` is told who else may hold the device; '' nobody. */
  #change<Value>(wanted: string | null, work: (overtaken: Promise<never>, before: string) => Promise<Value>): Promise<Value> {
    const { person, opened } = this.#parts;
    const isOther = (holder: string): boolean => holder !== '' && holder !== (wanted ?? '');
    // At once, so that what is said from here on is the next one's.
    let left = isOther(this.#wanted ?? person.on.holder) ? this.#leave() : undefined;
    this.#wanted = wanted;
    this.#overtake(new ClientError(ownFailure('unusable', 'Somebody else signs in, or out.', true)));
    const overtaken = new Promise<never>((_, reject) => {
      this.#overtake = reject;
    });
    overtaken.catch(() => {});
    const done = this.#settled.then(async () => {
      const { holder } = person.on;
      const isOthers = isOther(holder);
      // Only now is it known, or a change before this one came to its end after all.
      if (isOthers && (left === undefined || person.id !== null)) left = this.#leave();
      await left;
      // Kept before it is asked for: a binding that was not answered may have been made.
      await this.#settleDevice(wanted ?? '', !isOthers);
      try {
        return await work(overtaken, isOthers ? '' : holder);
      } finally {
        await opened.settle();
      }
    });
    this.#settled = Promise.allSettled([done]).then(() => {});
    return done;
  }

  /** @throws ClientError when it was refused, or another change came: then it is neither waited for nor tried again */
  #bound(signed: SignedPerson, overtaken: Promise<never>): Promise<IdentifyReply> {
    const { clock, mintUuid } = this.#parts.surroundings;
    let isOver = false;
    overtaken.catch(() => {
      isOver = true;
    });
    return Promise.race([identify(this.#parts, { clock, mintUuid, isOver: () => isOver }, signed), overtaken]);
  }

  /** What one person said, counted and brought is nobody else's. */
  #leave(): Promise<void> {
    const { person, opened, telemetry } = this.#parts;
    void telemetry.flush();
    person.leave();
    this.#tell();
    return opened.leave();
  }

  #tell(): void {
    const { person, signed } = this.#parts;
    signed(person.header !== undefined);
  }

  async #settleDevice(holder: string | undefined, isOwn: boolean): Promise<void> {
    const { surroundings, name, log, person } = this.#parts;
    person.on = await deviceOf(surroundings, name, log, holder, isOwn ? person.device : undefined);
    this.#tell();
  }
}
