/** Which languages an app's knowledge has: guessed from a sample, which is looked at again when a newer source can be found, and after some minutes. */
import { LRUCache } from 'lru-cache';
import { languagesOf } from '../../assistant/knowledge/languages.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { sampleOfKnowledge } from '../../storage/knowledge/knowledge-overview.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

/** As many as apps that are kept. One is a few words. */
const APPS_KEPT = 2_000;

/** Sources that are changed in place or taken away are seen after that. A sample is 60 short rows. */
const KEPT_MS = 5 * 60_000;

const kept = new LRUCache<string, readonly string[]>({ max: APPS_KEPT, ttl: KEPT_MS });

/** English names, that of most texts first. */
export function knowledgeLanguages(db: Connection, { id, newestSource }: Pick<AppRecord, 'id' | 'newestSource'>): readonly string[] {
  if (newestSource === 0) return [];
  const key = `${id}@${newestSource}`;
  let languages = kept.get(key);
  if (languages === undefined) {
    languages = languagesOf(sampleOfKnowledge(db, id));
    kept.set(key, languages);
  }
  return languages;
}
