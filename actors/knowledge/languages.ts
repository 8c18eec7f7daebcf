/** Which languages an app's knowledge has: of a sample, looked at again when a newer source can be found. */
import { LRUCache } from 'lru-cache';
import { languagesOf } from '../../assistant/knowledge/languages.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { sampleOfKnowledge } from '../../storage/knowledge/knowledge-overview.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

/** As many as apps that are kept. One is a few words. */
const APPS_KEPT = 2_000;

const kept = new LRUCache<string, readonly string[]>({ max: APPS_KEPT });

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
