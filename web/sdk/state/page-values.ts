/** What the widget keeps in the page's storage, once it may (WIDGET-45): before, and where the page forbids it, it is held as long as the page lives. */
import type { KeptValues } from '../../client/surroundings.ts';

type Place = () => Storage;

export class PageValues implements KeptValues {
  readonly #place: Place;
  readonly #prefix: string;
  readonly #mayKeep: () => boolean;
  readonly #held = new Map<string, string>();

  /** `prefix`: of all names. */
  constructor(place: Place, prefix: string, mayKeep: () => boolean) {
    this.#place = place;
    this.#prefix = prefix;
    this.#mayKeep = mayKeep;
  }

  /** @throws what the page's storage throws */
  get(name: string): string | null {
    return this.#held.get(name) ?? this.#storage()?.getItem(name) ?? null;
  }

  /** @throws what the page's storage throws */
  set(name: string, value: string): void {
    const storage = this.#storage();
    if (storage === undefined) this.#held.set(name, value);
    else storage.setItem(name, value);
  }

  /** @throws what the page's storage throws */
  take(name: string): void {
    this.#held.delete(name);
    this.#storage()?.removeItem(name);
  }

  read = async (name: string) => this.get(name);
  write = async (name: string, value: string) => this.set(name, value);
  remove = async (name: string) => this.take(name);

  /** The person agreed, or agrees no more: what was held is kept, or what was kept is held. @throws what the page's storage throws */
  settle(): void {
    const place = this.#place();
    if (this.#mayKeep()) {
      for (const [name, value] of this.#held) place.setItem(name, value);
      this.#held.clear();
      return;
    }
    for (const name of Object.keys(place).filter((each) => each.startsWith(this.#prefix))) {
      this.#held.set(name, place.getItem(name) ?? '');
      place.removeItem(name);
    }
  }

  /** Undefined where nothing may be kept: reading the property itself throws where a person forbids it. */
  #storage(): Storage | undefined {
    if (!this.#mayKeep()) return undefined;
    try {
      return this.#place();
    } catch {
      return undefined;
    }
  }
}
