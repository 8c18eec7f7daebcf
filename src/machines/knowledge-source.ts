/**
 * The life of one knowledge source (service.md "Knowledge item", decisions §3). Owns when a source waits, is being
 * indexed, can be searched, or is out of service. It does not own the text, the chunks or the error's words; the
 * transactions of `storage/knowledge.ts` do, and change a row's state as this table says.
 *
 * | state \ event | source.updated | source.restored | source.archived | indexing.began | indexing.finished | indexing.failed | process.lost |
 * |---------------|----------------|-----------------|-----------------|----------------|-------------------|-----------------|--------------|
 * | pending       | stays ¹        | ignored         | archived        | indexing       | ignored           | failed ²        | ignored      |
 * | indexing      | pending        | ignored         | archived        | stays ³        | indexed           | failed          | stays ³      |
 * | indexed       | pending        | ignored         | archived        | ignored        | ignored           | ignored         | ignored      |
 * | failed        | pending        | pending         | archived        | ignored        | ignored           | ignored         | ignored      |
 * | archived      | pending        | pending         | ignored         | ignored        | ignored           | ignored         | ignored      |
 *
 * An indexer names the content that it read; about any other content its events are not sent at all.
 * ¹ the newer content waits in its place. ² what cannot be read at all, as a link that does not answer, fails before it
 * is indexed. ³ the row outlives the process: it stays `indexing`, and whoever resumes begins again.
 */
import { setup } from 'xstate';

export type KnowledgeSourceState = 'pending' | 'indexing' | 'indexed' | 'failed' | 'archived';

export type KnowledgeSourceEvent =
  /** Its key was sent with other content. */
  | { readonly type: 'source.updated' }
  /** Its key was sent again with the content it has. */
  | { readonly type: 'source.restored' }
  | { readonly type: 'source.archived' }
  | { readonly type: 'indexing.began' }
  | { readonly type: 'indexing.finished' }
  /** `error` is a sentence, for the row. */
  | { readonly type: 'indexing.failed'; readonly error: string }
  | { readonly type: 'process.lost' };

const definition = setup({ types: { events: {} as KnowledgeSourceEvent } });

export const knowledgeSource = definition.createMachine({
  id: 'knowledge-source',
  initial: 'pending',
  states: {
    pending: {
      on: {
        'source.updated': {},
        'source.archived': 'archived',
        'indexing.began': 'indexing',
        'indexing.failed': 'failed',
      },
    },
    indexing: {
      on: {
        'source.updated': 'pending',
        'source.archived': 'archived',
        'indexing.began': {},
        'indexing.finished': 'indexed',
        'indexing.failed': 'failed',
        'process.lost': {},
      },
    },
    indexed: { on: { 'source.updated': 'pending', 'source.archived': 'archived' } },
    failed: { on: { 'source.updated': 'pending', 'source.restored': 'pending', 'source.archived': 'archived' } },
    archived: { on: { 'source.updated': 'pending', 'source.restored': 'pending' } },
  },
});
