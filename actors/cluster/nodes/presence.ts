/**
 * Presence in Redis: a key for each live node of all cells that share it, which expires 3 s after the node last wrote it. The record is plain JSON,
 * readable with redis-cli, behind a digest under the master key: requests are relayed to its URL, so access to Redis alone must not suffice
 * to put one there.
 */
import { isSecret, type Vault } from '../../../storage/secrets/vault.ts';
import type { RedisConnection } from '../bus/redis-connection.ts';
import { type NodeRecord, parseNodeRecord } from './node-record.ts';

const PREFIX = 'assistant:presence:';
/** A node that is gone must be noticed within 3 s (CLUSTER-8). */
export const PRESENCE_TTL_MS = 3_000;
/** Two writes may be lost before the node seems gone. */
export const PRESENCE_EVERY_MS = 1_000;
const DIGEST_CHARS = 64;

export interface PresenceOptions {
  readonly redis: RedisConnection;
  readonly vault: Pick<Vault, 'digest'>;
}

export class Presence {
  readonly #redis: RedisConnection;
  readonly #vault: Pick<Vault, 'digest'>;

  constructor({ redis, vault }: PresenceOptions) {
    this.#redis = redis;
    this.#vault = vault;
  }

  /** Writes the node's key. Does nothing while Redis is away: the next call comes soon. */
  async say(record: NodeRecord): Promise<void> {
    if (!this.#redis.up) return;
    const json = JSON.stringify(record);
    const key = `${PREFIX}${record.id}`;
    await this.#redis.set(key, `${this.#digest(key, json)} ${json}`, PRESENCE_TTL_MS).catch(() => {});
  }

  async leave(record: NodeRecord): Promise<void> {
    if (this.#redis.up) await this.#redis.delete(`${PREFIX}${record.id}`).catch(() => {});
  }

  /** All nodes that are there, by id. Rejects while Redis is away. */
  async everywhere(): Promise<NodeRecord[]> {
    const values = await this.#redis.withPrefix(PREFIX);
    const records = [...values].map(([key, value]) => this.#read(key, value)).filter((record) => record !== null);
    return records.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  #digest(key: string, json: string): string {
    return this.#vault.digest('presence', Buffer.from(`${key} ${json}`)).toString('hex');
  }

  #read(key: string, value: string): NodeRecord | null {
    const json = value.slice(DIGEST_CHARS + 1);
    return isSecret(value.slice(0, DIGEST_CHARS), this.#digest(key, json)) ? parseNodeRecord(json) : null;
  }
}
