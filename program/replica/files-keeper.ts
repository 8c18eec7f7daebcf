/**
 * Carries what is no database into the replica (REPLICA-6), every so often and in the background, since a large file takes long: uploads as
 * they lie on disk, which is sealed, and mails of the outbox, sealed for the way. What was sent is known from manifests, of which a copy lies in
 * the data directory. The master key is sent only where the configuration says so.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isId } from '../../protocol/ids.ts';
import { existingVault, isBackupName, masterKeyFingerprint } from '../../storage/backup/backup-manifest.ts';
import { type DataLayout, replaceFile } from '../../storage/data-layout.ts';
import {
  filesIn,
  manifestBytes,
  organisationManifest,
  type ReplicaManifest,
  type ReplicatedFile,
  SERVICE_MANIFEST,
  sealPurpose,
  storedName,
} from '../../storage/replica/replica-manifest.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import { Rounds } from './rounds.ts';
import type { ReplicaStore } from './store.ts';

interface FilesKeeperOptions {
  readonly store: ReplicaStore;
  readonly layout: DataLayout;
  readonly url: string;
  readonly includeKey: boolean;
  readonly masterKey: string | undefined;
}

/** A file that went is kept as long as Litestream's own history goes back, and an hour more. */
export const GONE_KEPT_MS = 25 * 3_600_000;

const CARRY_MS = 10_000;

export class FilesKeeper {
  readonly #options: FilesKeeperOptions;
  /** Copies of manifests; another destination has others. */
  readonly #known: string;
  readonly #rounds = new Rounds();
  /** When the last round began, and the last one that went well. */
  #beganAtMs = 0;
  #carriedAtMs = Date.now();

  constructor(options: FilesKeeperOptions) {
    this.#options = options;
    const digest = createHash('sha256').update(options.url).digest('hex').slice(0, 16);
    this.#known = join(options.layout.replica, `sent-${digest}`);
  }

  get problem(): string | undefined {
    return this.#rounds.problem;
  }

  /** Seconds, beyond the time that is left between two rounds anyway. */
  lagS(nowMs: number): number {
    return Math.max(0, nowMs - this.#carriedAtMs - CARRY_MS) / 1_000;
  }

  /** Begins a round when one is due. `lagMaxS`: how far behind the databases are. Never throws. */
  carry(nowMs: number, lagMaxS: number): void {
    if (!this.#rounds.isUnderWay && nowMs - this.#beganAtMs >= CARRY_MS) this.#begin(nowMs, lagMaxS);
  }

  #begin(nowMs: number, lagMaxS: number): void {
    this.#beganAtMs = nowMs;
    this.#rounds.begin(async () => {
      await this.#carry(nowMs, lagMaxS);
      this.#carriedAtMs = nowMs;
    });
  }

  /** Carries what is left, after the last write. Never throws. */
  async finish(lagMaxS: number): Promise<void> {
    await this.end();
    this.#begin(Date.now(), lagMaxS);
    await this.end();
  }

  end(): Promise<void> {
    return this.#rounds.end();
  }

  /** Sends what came since, and notes what went. @throws Error when the destination refuses; then the next call goes on. */
  async #carry(nowMs: number, lagMaxS: number): Promise<void> {
    const { layout, masterKey, includeKey } = this.#options;
    const vault = existingVault(layout, masterKey);
    if (vault === undefined) return;
    for (const id of this.#organisations()) await this.#keep(vault, organisationManifest(id), this.#uploadsOf(id), nowMs);
    const included = includeKey && masterKey === undefined;
    const service = {
      at_ms: nowMs,
      lag_max_s: lagMaxS,
      master_key: { fingerprint: masterKeyFingerprint(vault), included },
      manifests: this.#sent(),
    };
    await this.#keep(vault, SERVICE_MANIFEST, this.#ownFiles(included), nowMs, service);
  }

  /** Those that have uploads, and those that had. */
  #organisations(): Set<string> {
    const { uploads } = this.#options.layout;
    const known = this.#sent().map((name) => basename(name, '.json'));
    const there = existsSync(uploads) ? readdirSync(uploads) : [];
    return new Set([...there, ...known].filter((id) => isId('org', id)));
  }

  #sent(): string[] {
    const names = existsSync(this.#known) ? readdirSync(this.#known).map((name) => basename(name, '.json')) : [];
    return names.filter((id) => isId('org', id)).map(organisationManifest);
  }

  #uploadsOf(id: string): string[] {
    const folder = this.#options.layout.uploadsOf(id);
    return existsSync(folder) ? readdirSync(folder).map((name) => `uploads/${id}/${name}`) : [];
  }

  #ownFiles(withKey: boolean): string[] {
    const { layout } = this.#options;
    const mails = existsSync(layout.outbox) ? readdirSync(layout.outbox).map((name) => `outbox/${name}`) : [];
    return [...mails, ...(withKey ? [basename(layout.masterKey)] : [])];
  }

  /** Brings one manifest and its files up to date. */
  async #keep(vault: Vault, name: string, found: readonly string[], nowMs: number, service?: ReplicaManifest['service']): Promise<void> {
    const { store } = this.#options;
    const paths = new Set(found.filter((path) => isBackupName(path)));
    const known = this.#read(name);
    const files: ReplicatedFile[] = [];
    const tooOld: string[] = [];
    for (const file of filesIn(known)) {
      const isThere = paths.delete(file.path);
      const wentAtMs = isThere ? null : (file.went_at_ms ?? nowMs);
      if (wentAtMs !== null && nowMs - wentAtMs > GONE_KEPT_MS) tooOld.push(file.path);
      else files.push({ ...file, went_at_ms: wentAtMs });
    }
    for (const path of paths) {
      const sent = await this.#send(vault, path, nowMs);
      if (sent !== undefined) files.push(sent);
    }
    const bytes = manifestBytes(vault, name, service === undefined ? { files } : { files, service });
    if (known?.equals(bytes) === true || (known === undefined && files.length === 0 && service === undefined)) return;
    await store.put(name, bytes);
    for (const path of tooOld) await store.remove(storedName(path));
    this.#write(name, bytes);
  }

  /** Undefined: it went before it was read. */
  async #send(vault: Vault, path: string, nowMs: number): Promise<ReplicatedFile | undefined> {
    const { store, layout } = this.#options;
    let bytes: Buffer;
    try {
      bytes = await readFile(join(layout.dir, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const sealed = path.startsWith('outbox/') ? { sealed: true as const } : {};
    if (sealed.sealed) bytes = vault.seal(sealPurpose(path), bytes);
    await store.put(storedName(path), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { path, size: bytes.length, sha256, ...sealed, came_at_ms: nowMs, went_at_ms: null };
  }

  /** Undefined the first time, or after a crash: all is sent again, which changes nothing. */
  #read(name: string): Buffer | undefined {
    try {
      return readFileSync(join(this.#known, basename(name)));
    } catch {
      return undefined;
    }
  }

  #write(name: string, bytes: Buffer): void {
    const path = join(this.#known, basename(name));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replaceFile(path, bytes);
  }
}
