/**
 * Where the names live that strangers present: keys, setup tokens and setup codes (CELL-19). Each cell says in Redis which are its own, so
 * that an unknown one costs a look there and no other cell anything. What Redis holds is sealed under digests, and is forgotten unless it
 * is said again: the rows of the control files are the truth.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { type OwnName, ownKeys, ownSetupSecrets } from '../../storage/moving/own-names.ts';
import { cellOf } from '../../storage/moving/placements.ts';
import { hashSecret } from '../../storage/setup/setup-access.ts';
import type { Storage } from '../../storage/storage.ts';
import type { RedisConnection } from '../cluster/bus/redis-connection.ts';

export const PRESENTED_KINDS = ['key', 'setup_token', 'setup_code'] as const;
type Presented = (typeof PRESENTED_KINDS)[number];

export type HomesRedis = Pick<RedisConnection, 'set' | 'get'>;

const PREFIX = 'assistant:home:';
/** Said again each hour, in a fraction of a second for 10,000 of them: what Redis has let go of is missing for that long at most. */
const SAID_AGAIN_MS = 3_600_000;
const KEPT_MS = 3 * 24 * 3_600_000;
/** A name that was made a moment ago may be on its way to Redis. */
const SECOND_LOOK_MS = 250;
/** Names sent at once: more would delay what else waits for Redis. */
const PAGE = 500;
/** A clock may have been set back since the last look. */
const LOOK_BACK_MS = 60_000;

const homeSchema = v.object({ organisation_id: v.string(), cell: v.string() });

export interface Home {
  readonly organisationId: string;
  readonly cell: string;
}

export interface NameHomesOptions {
  readonly redis: HomesRedis;
  readonly self: string;
  readonly storage: Pick<Storage, 'control' | 'vault'>;
  nowMs(): number;
}

/** What was said, and when. `newest`: the number of the newest row of keys; `wholeAtMs`: when all were said last, 0: never. */
interface Said {
  readonly version: unknown;
  readonly newest: number;
  readonly sinceMs: number;
  readonly wholeAtMs: number;
}

const NOTHING: Said = { version: undefined, newest: 0, sinceMs: 0, wholeAtMs: 0 };
/** Rows before the newest that are looked at again: so many may be deleted between two looks, and their numbers given again. */
const BEHIND = 10_000;

export class NameHomes {
  readonly #options: NameHomesOptions;
  /** Written beside the names once all were said, by any process of the cell. */
  readonly #marker: string;
  #round: Promise<void> | undefined;
  #said = NOTHING;
  /** How often all were asked for. */
  #asked = 0;

  constructor(options: NameHomesOptions) {
    this.#options = options;
    this.#marker = `${PREFIX}all ${options.self}`;
  }

  /** Says all of them with the next `publish`: Redis may have lost them, or an organisation has arrived. */
  again(): void {
    this.#asked += 1;
    this.#said = NOTHING;
  }

  /** Says names of this cell that are new since the last time, when anything was written at all. @throws while Redis is away */
  publish(): Promise<void> {
    this.#round ??= this.#publish().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #publish(): Promise<void> {
    // Who asks for all of them during a round gets them in this one.
    for (let asked = -1; asked !== this.#asked; ) {
      asked = this.#asked;
      const said = await this.#saySince(this.#said);
      if (asked === this.#asked) this.#said = said;
    }
  }

  async #saySince(before: Said): Promise<Said> {
    const { redis, storage, nowMs } = this.#options;
    const { control } = storage;
    const startMs = nowMs();
    const { newest, sinceMs, wholeAtMs } = startMs - before.wholeAtMs >= SAID_AGAIN_MS ? NOTHING : before;
    const version = control.statement('PRAGMA data_version').get()?.data_version;
    if (version === before.version && wholeAtMs !== 0) return before;
    const since = { newest, sinceMs: sinceMs - LOOK_BACK_MS, limit: PAGE };
    let rowid = Math.max(0, newest - BEHIND);
    for (let page = ownKeys(control, { ...since, rowid }); page.length > 0; page = ownKeys(control, { ...since, rowid })) {
      await this.#say(page);
      rowid = page.at(-1)?.rowid ?? rowid;
    }
    const secrets = ownSetupSecrets(control, since.sinceMs);
    for (let at = 0; at < secrets.length; at += PAGE) await this.#say(secrets.slice(at, at + PAGE));
    if (wholeAtMs === 0) await redis.set(this.#marker, 'said', KEPT_MS);
    return { version, newest: Math.max(newest, rowid), sinceMs: startMs, wholeAtMs: wholeAtMs === 0 ? startMs : wholeAtMs };
  }

  /** Whether Redis still has what this cell said last: who deletes all deletes this, too. @throws while Redis is away */
  async isThere(): Promise<boolean> {
    return (await this.#options.redis.get(this.#marker)) !== undefined;
  }

  /** Undefined: no cell has said it. @throws while Redis is away */
  async find(kind: Presented, name: string): Promise<Home | undefined> {
    const key = this.#keyOf(kind, kind === 'key' ? name : hashSecret(name));
    let sealed = await this.#options.redis.get(key);
    if (sealed === undefined) {
      await pause(SECOND_LOOK_MS);
      sealed = await this.#options.redis.get(key);
    }
    return sealed === undefined ? undefined : this.#open(key, sealed);
  }

  async #say(names: readonly OwnName[]): Promise<void> {
    const { redis, self, storage } = this.#options;
    const here = names.filter(({ organisationId }) => cellOf(storage.control, self, organisationId) === self);
    await Promise.all(
      here.map(({ kind, secret, organisationId }) => {
        const key = this.#keyOf(kind, secret);
        const home = Buffer.from(JSON.stringify({ organisation_id: organisationId, cell: self }));
        return redis.set(key, storage.vault.seal(`name home ${key}`, home).toString('base64url'), KEPT_MS);
      }),
    );
  }

  /** `secret`: the key itself; of tokens and codes their hash, which is all that rows have. */
  #keyOf(kind: Presented, secret: string): string {
    return PREFIX + this.#options.storage.vault.digest('name home', Buffer.from(`${kind}\0${secret}`)).toString('base64url');
  }

  /** Undefined for what no cell with this master key said of this name. */
  #open(key: string, sealed: string): Home | undefined {
    try {
      const plain = this.#options.storage.vault.open(`name home ${key}`, Buffer.from(sealed, 'base64url')).toString('utf8');
      const { organisation_id: organisationId, cell } = v.parse(homeSchema, JSON.parse(plain));
      return { organisationId, cell };
    } catch {
      return undefined;
    }
  }
}
