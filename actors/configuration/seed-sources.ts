/** Seeds an app's knowledge: the links of its intake settings become knowledge sources when a session opens (SETUP-39). */
import { createHash } from 'node:crypto';
import type { Origin } from '../../protocol/setup/writes.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { readSourceByKey } from '../../storage/knowledge/knowledge.ts';
import { type KnowledgeServices, takeInKnowledge } from './knowledge.ts';

/** The origin of sources that were seeded. */
export const INTAKE_ORIGIN = 'intake' satisfies Origin;

/** The key of a link's source. It is a hash, because links may be longer than keys. */
function keyOf(link: string): string {
  return `intake:${createHash('sha256').update(link).digest('hex').slice(0, 32)}`;
}

/** Adds and reads the links that are no sources yet. An archived source stays archived. */
export async function seedSources(services: KnowledgeServices, { id: appId, organisationId, settings }: AppRecord): Promise<void> {
  const db = services.storage.organisation(organisationId);
  const items = settings.intake.links
    .map((uri) => ({ external_key: keyOf(uri), kind: 'url', uri }))
    .filter((item) => readSourceByKey(db, appId, item.external_key) === undefined);
  if (items.length > 0) await takeInKnowledge(services, { organisationId, appId, origin: INTAKE_ORIGIN }, items);
}
