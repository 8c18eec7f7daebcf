/** An app in real storage whose links are read by a reader that the test plays. */
import type { TestContext } from 'node:test';
import { type KnowledgeReport, takeInKnowledge } from '../../../actors/configuration/knowledge.ts';
import { KnowledgeIndexer } from '../../../actors/knowledge/indexer.ts';
import { grantedLeases } from '../../../actors/leases.ts';
import type { ExtractedText } from '../../../assistant/knowledge/extract-text.ts';
import type { LinkReader } from '../../../assistant/knowledge/extraction.ts';
import { mintId } from '../../../protocol/ids.ts';
import type { KnowledgeItemShape } from '../../../protocol/setup/knowledge.ts';
import { type KnowledgeSource, readSourceByKey } from '../../../storage/knowledge/knowledge.ts';
import { searchKnowledge } from '../../../storage/knowledge/knowledge-search.ts';
import { openStorage, type Storage } from '../../../storage/storage.ts';
import { temporaryDir } from '../../support/temporary-dir.ts';

export const NOW = Date.parse('2026-11-21T10:00:00.000Z');

/** One reading that the test ends when it likes. */
export interface Reading {
  readonly uri: string;
  readonly signal: AbortSignal | undefined;
  resolve(found: ExtractedText): void;
  reject(error: Error): void;
}

export interface PlayedReader extends LinkReader {
  /** Begun and not yet ended, in their order. */
  readonly open: readonly Reading[];
  /** Every uri that was asked for. */
  readonly asked: readonly string[];
  /** The oldest reading, once there is one. */
  next(): Promise<Reading>;
}

export function playedReader(): PlayedReader {
  const open: Reading[] = [];
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    open,
    asked,
    async next() {
      while (open.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return open[0] as Reading;
    },
    read(uri, _asker, signal) {
      asked.push(uri);
      return new Promise<ExtractedText>((resolve, reject) => {
        const end = (settle: () => void) => {
          open.splice(open.indexOf(reading), 1);
          settle();
        };
        const reading: Reading = {
          uri,
          signal,
          resolve: (found) => end(() => resolve(found)),
          reject: (error) => end(() => reject(error)),
        };
        signal?.addEventListener('abort', () => reading.reject(signal.reason), { once: true });
        open.push(reading);
        for (const wake of waiting.splice(0)) wake();
      });
    },
  };
}

export interface Fixture {
  readonly storage: Storage;
  readonly indexer: KnowledgeIndexer;
  readonly organisationId: string;
  readonly appId: string;
  /** `[organisationId, appId]` of every source that came to rest. */
  readonly settled: readonly (readonly [string, string])[];
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  /** Resolves when `count` sources have come to rest since the start. */
  rest(count: number): Promise<void>;
  send(items: readonly KnowledgeItemShape[], linkWaitMs?: number): Promise<KnowledgeReport>;
  source(key: string): KnowledgeSource;
  found(text: string): string[];
}

export async function addOrganisation(storage: Storage): Promise<{ organisationId: string; appId: string }> {
  const organisationId = mintId('org', NOW);
  const appId = mintId('app', NOW);
  const autoTopUp = { enabled: false, amount_usd: 10 };
  await storage.writeControl('createOrganisation', { id: organisationId, name: 'Acme', plan: 'free', members: [], autoTopUp, nowMs: NOW });
  const sealedIdentitySecret = storage.vault.seal('test', Buffer.from('secret'));
  const app = { appId, organisationId, name: 'Shop', platformHint: 'web', settings: {}, sealedIdentitySecret, nowMs: NOW };
  await storage.write(organisationId, 'createApp', app);
  return { organisationId, appId };
}

export interface FixtureOptions {
  /** Where an earlier fixture left its files, with its ids. */
  readonly dataDir?: string;
  readonly ids?: { readonly organisationId: string; readonly appId: string };
  readonly onSettled?: () => void;
}

export async function openFixture(
  t: TestContext,
  links: LinkReader,
  { dataDir = temporaryDir(t), ids, onSettled }: FixtureOptions = {},
): Promise<Fixture> {
  const storage = openStorage({ dataDir, masterKey: undefined, onFatal: () => {} });
  const { organisationId, appId } = ids ?? (await addOrganisation(storage));
  const settled: (readonly [string, string])[] = [];
  const logged: Record<string, unknown>[] = [];
  const resting: { count: number; resolve: () => void }[] = [];
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const indexer = new KnowledgeIndexer({
    storage,
    leases: grantedLeases,
    links,
    log: { info: log, error: log },
    nowMs: () => NOW,
    onSettled(...app) {
      settled.push(app);
      for (const { resolve } of resting.filter(({ count }) => settled.length >= count)) resolve();
      onSettled?.();
    },
  });
  t.after(async () => {
    await indexer.close();
    await storage.close();
  });
  const db = () => storage.organisation(organisationId);
  return {
    storage,
    indexer,
    organisationId,
    appId,
    settled,
    logged,
    rest: (count) => new Promise((resolve) => (settled.length >= count ? resolve() : resting.push({ count, resolve }))),
    send: (items, linkWaitMs = 10_000) =>
      takeInKnowledge({ storage, indexer, nowMs: () => NOW }, { organisationId, appId, origin: 'setup' }, items, linkWaitMs),
    source(key) {
      const source = readSourceByKey(db(), appId, key);
      if (source === undefined) throw new Error(`there is no source ${key}`);
      return source;
    },
    found: (text) => searchKnowledge(db(), appId, text, 10).map(({ externalKey }) => externalKey),
  };
}

export function link(key: string, more: Partial<KnowledgeItemShape> = {}): KnowledgeItemShape {
  return { external_key: key, kind: 'url', uri: `https://shop.example/${key}`, ...more };
}

export function textItem(key: string, content: string): KnowledgeItemShape {
  return { external_key: key, kind: 'text', title: key, content };
}
