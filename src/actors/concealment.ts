/**
 * Keeps personal data out of everything that is stored or shown to a model, and puts it back for the device that owns the
 * conversation and for the actions it runs (decisions §9).
 *
 * One belongs to a running turn, or to a request. It touches rows only when a text holds personal data or a placeholder.
 * Values live in its memory and, sealed, in the rows beside the conversation; nothing here logs or throws one.
 */
import { isPlaceholderKind, type PlaceholderKind, placeholderOf } from '../assistant/privacy/placeholder.ts';
import { concealText, PlaceholderTable, rewriteStrings } from '../assistant/privacy/placeholder-table.ts';
import { RedactionWork } from '../assistant/privacy/redaction-work.ts';
import { regionsOf } from '../assistant/privacy/regions.ts';
import { PLACEHOLDER_OPENS } from '../protocol/placeholder.ts';
import { type AppRecord, readApp } from '../storage/apps.ts';
import type { Connection } from '../storage/connection.ts';
import type { ConversationRow } from '../storage/conversations.ts';
import { readPersona } from '../storage/drafts.ts';
import type { Channel } from '../storage/organisations.ts';
import { countPlaceholders, type NewPlaceholder, type PlaceholderRow, readPlaceholders } from '../storage/placeholders.ts';
import type { Storage } from '../storage/storage.ts';

export interface ConcealmentOptions {
  readonly storage: Pick<Storage, 'vault' | 'organisation' | 'write'>;
  readonly organisationId: string;
  readonly conversationId: string;
  /** The conversation has no row yet: numbers are given here, and openTurn stores newRows() with it. */
  readonly isNew: boolean;
  /** `conversations.placeholders` as read; at 0 no row is read. */
  readonly count: number;
  /** The countries whose national phone numbers are recognised; see regionsOf. */
  readonly regions: readonly string[];
}

interface PersonalValue {
  readonly kind: PlaceholderKind;
  readonly value: string;
}

export class Concealment {
  readonly #options: ConcealmentOptions;
  #regions: readonly string[];
  readonly #table = new PlaceholderTable();
  #isNew: boolean;
  #isLoaded: boolean;
  #unstored: { readonly kind: PlaceholderKind; readonly number: number; readonly value: string }[] = [];

  constructor(options: ConcealmentOptions) {
    this.#options = options;
    this.#regions = options.regions;
    this.#isNew = options.isNew;
    this.#isLoaded = options.isNew || options.count === 0;
  }

  /** Whose national phone numbers are recognised from now on: another client writes. */
  readFor(regions: readonly string[]): void {
    this.#regions = regions;
  }

  /**
   * The JSON-like value with placeholders for all personal data in it; the same value, at once, when there is none. A promise
   * when new values have to be stored first. `numbers`: whole numbers too, which become text; for data that nobody computes with.
   * @throws StorageError (the promise) when they cannot be: nothing may be passed on then.
   */
  conceal<T>(value: T, numbers = false): T | Promise<T> {
    const unknown: PersonalValue[] = [];
    const nameOf = (kind: PlaceholderKind, found: string) => {
      const placeholder = this.#known().placeholderFor(kind, found);
      if (placeholder !== undefined) return placeholder;
      if (this.#table.isFull) return placeholderOf(kind, undefined);
      if (this.#isNew) return this.#number(kind, found);
      unknown.push({ kind, value: found });
      return '';
    };
    const concealed = this.#rewrite(value, nameOf, numbers);
    return unknown.length === 0 ? concealed : this.#allocate(unknown).then(() => this.concealKnown(value, numbers));
  }

  /** The same with what is known already; new values become `⟦email⟧`, for texts whose values nobody is ever shown again. */
  concealKnown<T>(value: T, numbers = false): T {
    const nameOf = (kind: PlaceholderKind, found: string) => this.#known().placeholderFor(kind, found) ?? placeholderOf(kind, undefined);
    return this.#rewrite(value, nameOf, numbers);
  }

  /** The JSON-like value with every known placeholder's value in its place; the same value when there is none. */
  restore<T>(value: T): T {
    return rewriteStrings(value, (text) => (text.includes(PLACEHOLDER_OPENS) ? this.#known().restore(text, this.#findStored) : text));
  }

  /** The same for text that is JSON or frames of it. */
  restoreJson(text: string): string {
    return text.includes(PLACEHOLDER_OPENS) ? this.#known().restoreJson(text, this.#findStored) : text;
  }

  /** What openTurn stores with a new conversation; [] for any other. */
  newRows(): PlaceholderRow[] {
    return this.#unstored.map((value) => ({ ...this.#seal(value), number: value.number }));
  }

  /** The new conversation is stored, and newRows() with it. */
  opened(): void {
    this.#isNew = false;
    this.#unstored = [];
  }

  #rewrite<T>(value: T, nameOf: (kind: PlaceholderKind, value: string) => string, numbers: boolean): T {
    const regions = this.#regions;
    // A value's own, so that it is read alike when it is read again with the numbers of what was found.
    const work = new RedactionWork();
    return rewriteStrings(value, (text, label) => concealText(text, { regions, label, work }, nameOf), numbers);
  }

  /** Opens the rows the first time that somebody asks. */
  #known(): PlaceholderTable {
    if (!this.#isLoaded) this.#load();
    return this.#table;
  }

  #load(): void {
    const { storage, organisationId, conversationId } = this.#options;
    this.#isLoaded = true;
    for (const { kind, number, sealed } of readPlaceholders(storage.organisation(organisationId), conversationId)) {
      if (!isPlaceholderKind(kind) || this.#table.has(kind, number)) continue;
      this.#table.add(kind, number, storage.vault.open(this.#purpose, sealed).toString('utf8'));
    }
  }

  /** A placeholder that others stored meanwhile, or that the model made up: rows are read again only when there are more of them. */
  readonly #findStored = (placeholder: string): string | undefined => {
    if (this.#isNew) return undefined;
    const { storage, organisationId, conversationId } = this.#options;
    const count = countPlaceholders(storage.organisation(organisationId), conversationId) ?? 0;
    if (count === this.#table.size) return undefined;
    this.#load();
    return this.#table.valueOf(placeholder);
  };

  #number(kind: PlaceholderKind, value: string): string {
    const number = this.#table.nextNumber(kind);
    this.#table.add(kind, number, value);
    this.#unstored.push({ kind, number, value });
    return placeholderOf(kind, number);
  }

  async #allocate(found: readonly PersonalValue[]): Promise<void> {
    const { storage, organisationId, conversationId } = this.#options;
    const values = [...new Map(found.map((value) => [`${value.kind} ${value.value}`, value])).values()];
    const numbers = await storage.write(organisationId, 'allocatePlaceholders', {
      conversationId,
      values: values.map((value) => this.#seal(value)),
    });
    for (const [index, { kind, value }] of values.entries()) {
      const number = numbers[index] ?? null;
      if (number !== null) this.#table.add(kind, number, value);
    }
    // Full, by others' values too: with all of them here nobody asks for numbers again.
    if (numbers.includes(null)) this.#load();
  }

  get #purpose(): string {
    return `placeholder:${this.#options.conversationId}`;
  }

  #seal({ kind, value }: PersonalValue): NewPlaceholder {
    const { vault } = this.#options.storage;
    return {
      kind,
      digest: vault.digest(this.#purpose, Buffer.from(`${kind} ${value}`, 'utf8')),
      sealed: vault.seal(this.#purpose, Buffer.from(value, 'utf8')),
    };
  }
}

/** Opens what conceals and restores in one conversation. Costs nothing until there is something to conceal or restore. */
export function openConcealment(options: ConcealmentOptions): Concealment {
  return new Concealment(options);
}

/** Who writes into a conversation: by the locale of the client and the languages of the app it is known whose numbers to look for. */
export interface Writer {
  readonly appId: string;
  readonly channel: Channel;
  readonly locale: string | null;
}

/** The same of a conversation as it was read; `writer`: of something new in it. */
export function concealmentOf(
  storage: ConcealmentOptions['storage'],
  organisationId: string,
  { id: conversationId, placeholders: count }: Pick<ConversationRow, 'id' | 'placeholders'>,
  writer?: Writer,
): Concealment {
  const regions = writer === undefined ? [] : regionsOfWriter(storage.organisation(organisationId), organisationId, writer);
  return openConcealment({ storage, organisationId, conversationId, isNew: false, count, regions });
}

function regionsOfWriter(db: Connection, organisationId: string, { appId, channel, locale }: Writer): string[] {
  const app = readApp(db, appId, organisationId);
  return app === undefined ? regionsOf(locale, []) : regionsOfClient(db, app, channel, locale);
}

/** Countries whose way of writing telephone numbers is looked for in what a client of the app sends. */
export function regionsOfClient(db: Connection, app: AppRecord, channel: Channel, locale: string | null | undefined): string[] {
  return regionsOf(locale, readPersona(db, app, channel).languages);
}
