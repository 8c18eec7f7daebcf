/**
 * What people do on their devices, and what follows from it for whoever asks later: worked out from the specification
 * alone (PERSON-1 to PERSON-10), knowing nothing of the service's own rule.
 */
export const DEVICES = ['1'.repeat(32), '2'.repeat(32)] as const;
export const CHANNELS = ['live', 'test'] as const;
export const PEOPLE = ['ann', 'ben'] as const;
export type Person = (typeof PEOPLE)[number];

/** An installation of one app with one kind of key. */
export interface Place {
  readonly app: number;
  readonly channel: (typeof CHANNELS)[number];
  readonly device: string;
}
/** What a turn says of its person; omitted: nothing. */
export type User = { readonly name: Person; readonly signed: boolean } | null | 'omitted';

export interface Held {
  readonly place: Place;
  /** Null: nobody. Identifying moves it. */
  owner: Person | null;
  readonly id: string;
  readonly turnId: string;
  readonly messageId: string;
  readonly invocationId: string;
  /** When its turn was sent, in steps of the world. */
  readonly step: number;
}

const homeOf = ({ app, channel }: Place) => `${app} ${channel}`;
export const nameOf = (place: Place) => `${homeOf(place)} ${place.device[0]}`;
const sameHome = (one: Place, other: Place) => homeOf(one) === homeOf(other);

/** What people did, and what follows from it. */
export class World {
  readonly held: Held[] = [];
  /** People who were signed for, by app and kind of key. */
  readonly #signedFor = new Set<string>();
  readonly #bound = new Map<string, { readonly name: Person; readonly proven: boolean; readonly step: number }>();
  /** What was done so far. */
  #step = 0;

  get step(): number {
    return this.#step;
  }

  #isSignedFor(place: Place, name: Person): boolean {
    return this.#signedFor.has(`${homeOf(place)} ${name}`);
  }

  bound(place: Place): Person | null {
    const binding = this.#bound.get(nameOf(place));
    if (binding === undefined || (this.#isSignedFor(place, binding.name) && !binding.proven)) return null;
    return binding.name;
  }

  /** Whom a turn is for. */
  acting(place: Place, user: User): Person | null {
    if (user === 'omitted') return this.bound(place);
    if (user === null) return null;
    return user.signed || !this.#isSignedFor(place, user.name) ? user.name : null;
  }

  noteTurn(place: Place, user: User): void {
    this.#step += 1;
    if (user !== null && user !== 'omitted' && user.signed) this.#signedFor.add(`${homeOf(place)} ${user.name}`);
  }

  noteIdentify(place: Place, name: Person, proven: boolean): void {
    this.#step += 1;
    if (!proven && this.#isSignedFor(place, name)) {
      if (this.#bound.get(nameOf(place))?.name !== name) this.#bound.delete(nameOf(place));
      return;
    }
    if (proven) this.#signedFor.add(`${homeOf(place)} ${name}`);
    const before = this.#bound.get(nameOf(place));
    this.#bound.set(nameOf(place), { name, proven, step: before?.name === name ? before.step : this.#step });
    for (const held of this.held) if (nameOf(held.place) === nameOf(place) && held.owner === null) held.owner = name;
  }

  /** Requests of a device, which `signer` may have signed in their header or body. */
  sees(place: Place, { place: at, owner }: Held, signer: Person | null = null): boolean {
    if (!sameHome(place, at)) return false;
    if (owner === null) return at.device === place.device;
    if (signer === owner) return true;
    const bound = this.bound(place);
    return bound === null ? at.device === place.device : bound === owner;
  }

  continues(place: Place, user: User, { place: at, owner }: Held): boolean {
    if (!sameHome(place, at) || this.acting(place, user) !== owner) return false;
    return owner !== null || at.device === place.device;
  }

  /** A turn is its device's, whoever was signed in, and that of whoever its conversation is. */
  attaches(place: Place, held: Held, signer: Person | null = null): boolean {
    return (sameHome(place, held.place) && held.place.device === place.device) || this.sees(place, held, signer);
  }

  /** What a turn showed is answered by whoever reads it, unless by name alone, and by the device that sent it until somebody else is identified there. */
  answers(place: Place, held: Held, signer: Person | null = null): boolean {
    const isHere = sameHome(place, held.place) && held.place.device === place.device;
    if (this.sees(place, held, signer)) return isHere || signer === held.owner || this.#bound.get(nameOf(place))?.proven === true;
    if (!isHere) return false;
    return this.bound(place) === null || (this.#bound.get(nameOf(place))?.step ?? 0) <= held.step;
  }
}
