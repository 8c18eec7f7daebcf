/** Keeps personal data out of what is stored or shown to a model (PRIVACY-1, PRIVACY-12). Nothing here logs or throws a value. */

import { regionsOf, rulesFor } from '../../assistant/privacy/find.ts';
import { isMarkedNumber, restoreNumbers, restoreNumbersJson, withoutMarks } from '../../assistant/privacy/number-placeholder.ts';
import { isPlaceholderKind, type PlaceholderKind, partsOf, placeholderOf } from '../../assistant/privacy/placeholder.ts';
import { PlaceholderTable, redactText, rewriteStrings } from '../../assistant/privacy/placeholder-table.ts';
import { RedactionWork } from '../../assistant/privacy/redaction-work.ts';
import { PLACEHOLDER_OPENS } from '../../protocol/placeholder.ts';
import { type AppRecord, readApp } from '../../storage/apps/apps.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import type { ConversationRow } from '../../storage/conversations/conversations.ts';
import {
  type NewPlaceholder,
  type PlaceholderRow,
  readPlaceholder,
  readPlaceholderNumber,
} from '../../storage/conversations/placeholders.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Storage } from '../../storage/storage.ts';

export interface RedactionOptions {
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

interface How {
  readonly numbers: boolean;
  /** Text that looks like a placeholder. */
  readonly lookalikes: boolean;
  /** How many distinct values get a new number; further ones keep only a number that is in memory. Absent: all get one. */
  readonly numberedMax?: number;
}

const KNOWN: How = { numbers: false, lookalikes: true };

const SAID: How = { numbers: true, lookalikes: true };

type Names = Map<string, string>;

/** Stored values that are kept in memory: some pages of a conversation, a few hundred KB at most. */
const VALUES_KEPT_MAX = 2_000;
/** For one turn, beside the person's words: rows that last. Some hundred people are usual, thousands an attempt to fill the disk. */
export const TOLD_NUMBERED_MAX = 300;
const TOLD: How = { ...SAID, numberedMax: TOLD_NUMBERED_MAX };
/** Rows that are looked up on the event loop, at some 10 µs each; for more values the write finds out which exist. */
const LOOKUPS_MAX = 200;

export class Redaction {
  readonly #options: RedactionOptions;
  #regions: readonly string[];
  readonly #table = new PlaceholderTable();
  #isNew: boolean;
  #mayHaveRows: boolean;
  #unstored: { readonly kind: PlaceholderKind; readonly number: number; readonly value: string }[] = [];

  constructor(options: RedactionOptions) {
    this.#options = options;
    this.#regions = options.regions;
    this.#isNew = options.isNew;
    this.#mayHaveRows = !options.isNew && options.count > 0;
  }

  /** The countries whose national phone numbers are recognised from now on, because another client writes. */
  readFor(regions: readonly string[]): void {
    this.#regions = regions;
  }

  /** At once when nothing is personal. `numbers`: whole numbers too. @throws StorageError (the promise): nothing may be passed on then. */
  redact<T>(value: T, numbers = false): T | Promise<T> {
    return this.#redact(value, numbers ? SAID : KNOWN);
  }

  /** The same for text of the model: its placeholders are real and stay. */
  redactOwn<T>(value: T): T | Promise<T> {
    return this.#redact(value, { numbers: false, lookalikes: false });
  }

  /** Within one budget: what was said, each value numbered, and what is `told`: TOLD_NUMBERED_MAX get one, the others `⟦email⟧`. */
  redactTurn<S, T>(said: S, told: T): readonly [S, T] | Promise<readonly [S, T]> {
    const work = new RedactionWork();
    const whole = (kept: S): readonly [S, T] | Promise<readonly [S, T]> => {
      const rest = this.#redact(told, TOLD, work);
      return rest instanceof Promise ? rest.then((toldKept) => [kept, toldKept] as const) : [kept, rest];
    };
    const kept = this.#redact(said, SAID, work);
    return kept instanceof Promise ? kept.then(whole) : whole(kept);
  }

  #redact<T>(value: T, how: How, work = new RedactionWork()): T | Promise<T> {
    // Made with the first finding: most texts have none.
    let findings:
      | { names: Names; unknown: Map<string, PersonalValue>; known: (kind: PlaceholderKind, value: string) => string | undefined }
      | undefined;
    const { numberedMax = Infinity } = how;
    // Read again with the numbers of what was found, it has to be read alike.
    const again = work.copy();
    const redacted = this.#rewrite(value, how, work, (kind, found) => {
      findings ??= { names: new Map(), unknown: new Map(), known: this.#lookup() };
      const { names, unknown, known } = findings;
      const key = `${kind} ${found}`;
      if (!names.has(key) && !unknown.has(key) && names.size + unknown.size >= numberedMax)
        return this.#table.placeholderFor(kind, found) ?? placeholderOf(kind, undefined);
      const name = names.get(key) ?? known(kind, found) ?? (this.#isNew ? this.#number(kind, found) : undefined);
      if (name === undefined) unknown.set(key, { kind, value: found });
      else names.set(key, name);
      return name ?? '';
    });
    this.#trim();
    if (findings === undefined || findings.unknown.size === 0) return redacted;
    const { names, unknown } = findings;
    return this.#allocate(unknown, names).then(() =>
      this.#rewrite(
        value,
        how,
        again,
        (kind, found) => names.get(`${kind} ${found}`) ?? this.#table.placeholderFor(kind, found) ?? placeholderOf(kind, undefined),
      ),
    );
  }

  /** The same with known values only; new ones become `⟦email⟧`. For texts whose values are never shown again. */
  redactKnown<T>(value: T): T {
    const known = this.#lookup();
    const redacted = this.#rewrite(
      value,
      KNOWN,
      new RedactionWork(),
      (kind, found) => known(kind, found) ?? placeholderOf(kind, undefined),
    );
    this.#trim();
    return redacted;
  }

  /** The JSON-like value with every known placeholder's value in its place; the same value when there is none. */
  restore<T>(value: T): T {
    let hasNumbers = false;
    const restored = rewriteStrings(value, (text) => {
      hasNumbers ||= isMarkedNumber(text);
      return text.includes(PLACEHOLDER_OPENS) ? this.#table.restore(text, this.#findStored) : text;
    });
    const whole = hasNumbers ? (restoreNumbers(restored, this.#valueOf) as T) : restored;
    this.#trim();
    return whole;
  }

  /** The same for text that is JSON or frames of it. */
  restoreJson(text: string): string {
    if (!text.includes(PLACEHOLDER_OPENS)) return text;
    const restored = this.#table.restoreJson(restoreNumbersJson(text, this.#valueOf), this.#findStored);
    this.#trim();
    return restored;
  }

  /** What openTurn stores with a new conversation; [] for any other. */
  newRows(): PlaceholderRow[] {
    return this.#unstored.map((value) => ({ ...this.#seal(value), number: value.number }));
  }

  opened(): void {
    this.#isNew = false;
    this.#mayHaveRows ||= this.#unstored.length > 0;
    this.#unstored = [];
  }

  #rewrite<T>(value: T, { numbers, lookalikes }: How, work: RedactionWork, nameOf: (kind: PlaceholderKind, value: string) => string): T {
    const regions = this.#regions;
    const rewrite = (text: string, label: string) => {
      // Text that imitates the form in which calls store numbers is text.
      const said = lookalikes ? withoutMarks(text) : text;
      return rulesFor(said, lookalikes) === 0 ? said : redactText(said, { regions, label, work, lookalikes }, nameOf);
    };
    return rewriteStrings(value, rewrite, numbers);
  }

  #lookup(): (kind: PlaceholderKind, value: string) => string | undefined {
    const { storage, organisationId, conversationId } = this.#options;
    let left = this.#mayHaveRows ? LOOKUPS_MAX : 0;
    return (kind, value) => {
      const known = this.#table.placeholderFor(kind, value);
      if (known !== undefined || left === 0) return known;
      left--;
      const number = readPlaceholderNumber(storage.organisation(organisationId), conversationId, this.#digest({ kind, value }));
      if (number === undefined) return undefined;
      this.#table.add(kind, number, value);
      return placeholderOf(kind, number);
    };
  }

  readonly #valueOf = (placeholder: string): string => this.#table.restore(placeholder, this.#findStored);

  /** A placeholder whose value is not in memory, or that the model made up. */
  readonly #findStored = (placeholder: string): string | undefined => {
    const parts = partsOf(placeholder);
    if (this.#isNew || parts === undefined || !isPlaceholderKind(parts.kind)) return undefined;
    const { storage, organisationId, conversationId } = this.#options;
    const sealed = readPlaceholder(storage.organisation(organisationId), conversationId, parts.kind, parts.number);
    if (sealed === undefined) return undefined;
    const value = storage.vault.open(this.#purpose, sealed).toString('utf8');
    this.#table.add(parts.kind, parts.number, value);
    return value;
  };

  /** What lies in rows need not lie in memory. */
  #trim(): void {
    if (!this.#isNew) this.#table.trim(VALUES_KEPT_MAX);
  }

  #number(kind: PlaceholderKind, value: string): string {
    const number = this.#table.nextNumber(kind);
    this.#table.add(kind, number, value);
    this.#unstored.push({ kind, number, value });
    return placeholderOf(kind, number);
  }

  async #allocate(found: ReadonlyMap<string, PersonalValue>, names: Names): Promise<void> {
    const { storage, organisationId, conversationId } = this.#options;
    const numbers = await storage.write(organisationId, 'allocatePlaceholders', {
      conversationId,
      values: Array.from(found.values(), (value) => this.#seal(value)),
    });
    this.#mayHaveRows = true;
    for (const [index, [key, { kind, value }]] of [...found].entries()) {
      const number = numbers[index] ?? null;
      if (number === null) continue;
      names.set(key, placeholderOf(kind, number));
      this.#table.add(kind, number, value);
    }
    this.#trim();
  }

  get #purpose(): string {
    return `placeholder:${this.#options.conversationId}`;
  }

  #digest({ kind, value }: PersonalValue): Uint8Array {
    return this.#options.storage.vault.digest(this.#purpose, Buffer.from(`${kind} ${value}`, 'utf8'));
  }

  #seal(value: PersonalValue): NewPlaceholder {
    const sealed = this.#options.storage.vault.seal(this.#purpose, Buffer.from(value.value, 'utf8'));
    return { kind: value.kind, digest: this.#digest(value), sealed };
  }
}

export function openRedaction(options: RedactionOptions): Redaction {
  return new Redaction(options);
}

export interface Writer {
  readonly appId: string;
  readonly channel: Channel;
  readonly locale: string | null;
}

/** The same of a conversation as it was read; `writer`: of something new in it. */
export function redactionOf(
  storage: RedactionOptions['storage'],
  organisationId: string,
  { id: conversationId, placeholders: count }: Pick<ConversationRow, 'id' | 'placeholders'>,
  writer?: Writer,
): Redaction {
  const regions = writer === undefined ? [] : regionsOfWriter(storage.organisation(organisationId), organisationId, writer);
  return openRedaction({ storage, organisationId, conversationId, isNew: false, count, regions });
}

function regionsOfWriter(db: Connection, organisationId: string, { appId, channel, locale }: Writer): string[] {
  const app = readApp(db, appId, organisationId);
  return app === undefined ? regionsOf(locale, []) : regionsOfClient(db, app, channel, locale);
}

export function regionsOfClient(db: Connection, app: AppRecord, channel: Channel, locale: string | null | undefined): string[] {
  return regionsOf(locale, readPersona(db, app, channel).languages);
}
