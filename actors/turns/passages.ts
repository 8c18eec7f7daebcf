/** The passages of the app's knowledge that a turn answers from, and what answers say of where they are taken from. */
import type { Passage } from '../../assistant/models/model.ts';
import type { Block } from '../../protocol/catalog/block.ts';
import { isHttpsUrl } from '../../protocol/catalog/text-checks.ts';
import { sourcesNamed } from '../../storage/knowledge/knowledge-overview.ts';
import { searchKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import { PASSAGES_PER_SEARCH } from '../knowledge/explained-search.ts';
import type { TurnFacts } from './facts.ts';

/** Settles when the meanings of `texts` are known or will not be; undefined when a search need not wait for them. */
export function prepareSearch({ hasKnowledge, services }: TurnFacts, ...texts: readonly string[]): Promise<unknown> | undefined {
  const prepared = hasKnowledge ? services.meanings?.prepare(...texts) : undefined;
  if (prepared === undefined || services.measures === undefined) return prepared;
  const { measures } = services;
  const askedMs = performance.now();
  return prepared.then(() => measures.searched('meaning', performance.now() - askedMs));
}

/** What the knowledge says about `text`, by its words, and by its meaning where that is known. */
export function searchPassages({ command, db, hasKnowledge, services }: TurnFacts, text: string): Passage[] {
  if (!hasKnowledge) return [];
  const askedMs = performance.now();
  const found = searchKnowledge(db, command.caller.app.id, text, PASSAGES_PER_SEARCH, services.meanings?.get(text));
  services.measures?.searched('search', performance.now() - askedMs);
  if (found.length > 0) command.listen?.passages(found);
  return found;
}

interface Point {
  readonly sources?: readonly string[];
}

/** `key_points` with the titles of what its points are taken from in place of keys, and an address where the source is a page (BLOCK-26). */
export function withCitations({ command, db }: Pick<TurnFacts, 'command' | 'db'>, block: Block): Block {
  const points = block.block_type === 'key_points' ? (block.body.points as readonly Point[]) : [];
  const names = points.flatMap(({ sources = [] }) => sources);
  if (names.length === 0) return block;
  const known = sourcesNamed(db, command.caller.app.id, names).map((source) => ({
    ...source,
    shown: source.title.trim() || source.externalKey,
  }));
  const sourceOf = (name: string) => known.find(({ externalKey }) => externalKey === name) ?? known.find(({ title }) => title === name);
  const titled = points.map((point) =>
    point.sources === undefined ? point : { ...point, sources: [...new Set(point.sources.map((name) => sourceOf(name)?.shown ?? name))] },
  );
  const links = new Map(
    names.flatMap((name) => {
      const { shown, uri } = sourceOf(name) ?? {};
      return shown !== undefined && uri != null && isHttpsUrl(uri) ? [[shown, uri] as const] : [];
    }),
  );
  const body = { ...block.body, points: titled };
  return { ...block, body: links.size === 0 ? body : { ...body, links: Array.from(links, ([source, url]) => ({ source, url })) } };
}
