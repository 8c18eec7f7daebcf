/**
 * Finds the organisation that a request names, by a key, a token or an id, and the cell where it lives (CELL-1). What this cell knows is in
 * its control file: its own organisations, placements, and names of organisations in other cells. An unknown name that a stranger may
 * present is looked up in Redis (name-homes.ts); ids, which only an operator names, are asked of all other cells at once, and so is
 * every name of a cell that does not say its own yet. What is found is kept.
 *
 * Invariants: an organisation lives where its placement with the highest known version says. Requests for the same name share one
 * question. A name counts as unknown only when Redis and every cell that was seen lately have answered.
 */
import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { Refusal } from '../../protocol/errors.ts';
import { CELLS_MAX, type CellRecord, listCells, readForeignName } from '../../storage/moving/cells.ts';
import { isOrganisationKnown, readPlacement } from '../../storage/moving/placements.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CellClient } from './cell-client.ts';
import { type NameHomes, PRESENTED_KINDS } from './name-homes.ts';

export const NAME_KINDS = [...PRESENTED_KINDS, 'organisation', 'app', 'session', 'pairing', 'proposal', 'conversation'] as const;

export interface Name {
  readonly kind: (typeof NAME_KINDS)[number];
  readonly name: string;
}

export interface Whereabouts {
  readonly organisationId: string;
  readonly cell: string;
  /** The version of the placement; 0: it was never placed and lives where its file is. */
  readonly version: number;
}

export interface DirectoryOptions {
  readonly self: string;
  readonly storage: Pick<Storage, 'control' | 'vault' | 'writeControl'>;
  readonly client: CellClient;
  /** What cells say in Redis; `covers`: whether the cell says its names. */
  readonly homes: Pick<NameHomes, 'find'> & { covers(cell: string): boolean };
  nowMs(): number;
}

/** A question is one read of a row; a cell that takes longer is not healthy, and a client waits. */
const ASK_TIMEOUT_MS = 1_000;
/** Names that are asked for at the same time. More are guesses, and each costs every cell a request. */
const ASKING_MAX = 1_000;
/** How long a name counts as unknown: a client with a wrong key asks again and again, and a new key should work soon. */
const UNKNOWN_MS = 10_000;
/** Some 100 bytes each: what a flood of wrong keys may take of memory. */
const UNKNOWN_KEPT = 10_000;
/** A cell that was not seen for so long was removed, and its answer is not needed. */
const TAKEN_AWAY_MS = 24 * 3_600_000;
const RETRY_AFTER_S = 1;

const answerSchema = v.object({
  organisation_id: v.string(),
  cell: v.string(),
  version: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

const NAME_PURPOSE = 'cell question';

/** What a name is kept as: its digest under the master key. */
function nameDigest(vault: Storage['vault'], { kind, name }: Name): string {
  return vault.digest('foreign name', Buffer.from(`${kind}\0${name}`)).toString('base64url');
}

/** How a name travels: sealed, for a path. */
function sealName(vault: Storage['vault'], { kind, name }: Name): string {
  return vault.seal(NAME_PURPOSE, Buffer.from(`${kind}\0${name}`)).toString('base64url');
}

/** Undefined when it is nothing that another cell has sealed. */
export function openName(vault: Storage['vault'], sealed: string): Name | undefined {
  try {
    const [kind, name] = vault.open(NAME_PURPOSE, Buffer.from(sealed, 'base64url')).toString('utf8').split('\0');
    const known = NAME_KINDS.find((one) => one === kind);
    return known === undefined || name === undefined ? undefined : { kind: known, name };
  } catch {
    return undefined;
  }
}

type Answer = Whereabouts | 'unknown' | 'silent';

function isPresented(kind: Name['kind']): kind is (typeof PRESENTED_KINDS)[number] {
  return PRESENTED_KINDS.some((one) => one === kind);
}

export class CellDirectory {
  readonly self: string;
  readonly #options: DirectoryOptions;
  readonly #asking = new Map<string, Promise<Whereabouts | undefined>>();
  /** Digest of a name → until when it counts as unknown. */
  readonly #unknown = new LRUCache<string, number>({ maxSize: UNKNOWN_KEPT, sizeCalculation: () => 1 });

  constructor(options: DirectoryOptions) {
    this.self = options.self;
    this.#options = options;
  }

  /** Undefined: the organisation is unknown to this cell. */
  whereabouts(organisationId: string): Whereabouts | undefined {
    const { control } = this.#options.storage;
    const placement = readPlacement(control, organisationId);
    if (placement !== undefined) return { organisationId, cell: placement.cell, version: placement.version };
    return isOrganisationKnown(control, organisationId) ? { organisationId, cell: this.self, version: 0 } : undefined;
  }

  foreign(name: Name): Whereabouts | undefined {
    const organisationId = readForeignName(this.#options.storage.control, this.#digest(name));
    return organisationId === undefined ? undefined : this.whereabouts(organisationId);
  }

  /** Every cell was asked a moment ago, and none knew the name. */
  isUnknown(name: Name): boolean {
    return this.#options.nowMs() < (this.#unknown.get(this.#digest(name)) ?? 0);
  }

  /** Asks the other cells. Undefined: none knows it. @throws Refusal internal, 503, while a cell that may know it does not answer. */
  ask(name: Name): Promise<Whereabouts | undefined> {
    const digest = this.#digest(name);
    const asked = this.#asking.get(digest);
    if (asked !== undefined) return asked;
    if (this.#asking.size >= ASKING_MAX) {
      const message = 'Too many unknown names are being looked up in other cells. Send the request again in a moment.';
      return Promise.reject(new Refusal('internal', message, { status: 503, retryAfterS: RETRY_AFTER_S }));
    }
    const answer = this.#ask(name, digest).finally(() => this.#asking.delete(digest));
    this.#asking.set(digest, answer);
    return answer;
  }

  /**
   * The cell of `misled` does not have the organisation. `told`: where it says the organisation is. Returns another cell to try;
   * undefined: no cell knows better. @throws as `ask`.
   */
  async askAgain(name: Name, misled: Whereabouts, told: Whereabouts | undefined): Promise<Whereabouts | undefined> {
    const { storage, nowMs } = this.#options;
    if (told !== undefined && told.version > misled.version) {
      await storage.writeControl('placeOrganisation', { ...told, nowMs: nowMs() });
      return told.cell === this.self ? undefined : told;
    }
    const digest = this.#digest(name);
    await storage.writeControl('forgetForeignName', { digest });
    this.#unknown.delete(digest);
    const found = await this.ask(name);
    return found?.cell === misled.cell ? undefined : found;
  }

  #digest(name: Name): string {
    return nameDigest(this.#options.storage.vault, name);
  }

  async #ask(name: Name, digest: string): Promise<Whereabouts | undefined> {
    const { storage, nowMs } = this.#options;
    const silent: string[] = [];
    const found = (await this.#homeOf(name, silent)) ?? (await this.#firstOf(name, silent));
    if (found !== undefined) {
      await Promise.all([
        storage.writeControl('noteForeignName', { digest, organisationId: found.organisationId, nowMs: nowMs() }),
        storage.writeControl('placeOrganisation', { ...found, nowMs: nowMs() }),
      ]);
      return found;
    }
    if (silent.length > 0) {
      const message = `Nobody knows whose this request is while ${silent.join(', ')} cannot be reached. Send it again in a moment.`;
      throw new Refusal('internal', message, { status: 503, retryAfterS: RETRY_AFTER_S });
    }
    this.#unknown.set(digest, nowMs() + UNKNOWN_MS);
    return undefined;
  }

  /** As Redis says. Notes when it cannot. */
  async #homeOf({ kind, name }: Name, silent: string[]): Promise<Whereabouts | undefined> {
    const { homes } = this.#options;
    if (!isPresented(kind) || !this.#others().some(({ cell }) => homes.covers(cell))) return undefined;
    try {
      const home = await homes.find(kind, name);
      return home && (this.whereabouts(home.organisationId) ?? { ...home, version: 0 });
    } catch {
      silent.push('Redis');
      return undefined;
    }
  }

  #others(): CellRecord[] {
    return listCells(this.#options.storage.control)
      .filter(({ cell }) => cell !== this.self)
      .slice(0, CELLS_MAX);
  }

  /** The first cell that has the organisation, or else the newest placement that one knows of. Notes who did not answer. */
  #firstOf(name: Name, silent: string[]): Promise<Whereabouts | undefined> {
    const { storage, homes, nowMs } = this.#options;
    const others = this.#others().filter(({ cell }) => !isPresented(name.kind) || !homes.covers(cell));
    const sealed = sealName(storage.vault, name);
    let newest: Whereabouts | undefined;
    return new Promise((resolve) => {
      const questions = others.map(async ({ cell, seenAtMs }) => {
        const answer = await this.#askCell(cell, sealed);
        if (answer === 'silent' && nowMs() - seenAtMs < TAKEN_AWAY_MS) silent.push(`cell ${cell}`);
        if (typeof answer === 'string' || answer.cell === this.self) return;
        if (answer.cell === cell) resolve(answer);
        if (answer.version > (newest?.version ?? -1)) newest = answer;
      });
      void Promise.all(questions).then(() => resolve(newest));
    });
  }

  async #askCell(cell: string, sealed: string): Promise<Answer> {
    try {
      const options = { timeoutMs: ASK_TIMEOUT_MS };
      const { status, json } = await this.#options.client.call(cell, 'GET', `/cell/v1/names/${sealed}`, undefined, options);
      if (status === 404) return 'unknown';
      const answer = v.safeParse(answerSchema, json);
      if (status !== 200 || !answer.success) return 'silent';
      const { organisation_id: organisationId, ...rest } = answer.output;
      return { organisationId, ...rest };
    } catch {
      return 'silent';
    }
  }
}
