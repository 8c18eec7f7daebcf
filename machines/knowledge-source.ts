/**
 * The life of one knowledge source (KNOWLEDGE-3). Owns when a source waits, is being
 * indexed, can be searched, or is out of service, and how often its indexing is begun. It does not own the text, the chunks or the
 * error's words. `actors/knowledge/sources.ts` steps it, and commits each step by compare-and-set.
 *
 * | state \ event | source.updated | source.restored | source.archived | indexing.began | indexing.finished | indexing.failed | indexing.stopped | process.lost |
 * |---------------|----------------|-----------------|-----------------|----------------|-------------------|-----------------|------------------|--------------|
 * | pending       | stays ¹        | ignored         | archived        | indexing       | ignored           | failed ²        | ignored          | ignored      |
 * | indexing      | pending        | ignored         | archived        | stays / failed ⁴  | indexed       | failed          | stays ³          | stays ³      |
 * | indexed       | pending        | ignored         | archived        | ignored        | ignored           | ignored         | ignored          | ignored      |
 * | failed        | pending        | pending         | archived        | ignored        | ignored           | ignored         | ignored          | ignored      |
 * | archived      | pending        | pending         | ignored         | ignored        | ignored           | ignored         | ignored          | ignored      |
 *
 * An indexer names the content that it read; about any other content its events are not sent at all.
 * ¹ the newer content waits in its place. ² unreadable content, such as a link that does not answer, fails before it is indexed.
 * ³ the row outlives the process: it stays `indexing`, and whoever resumes begins again. ⁴ attempts are counted when they begin, except
 * stopped ones. Content during whose indexing two processes ended is not tried a third time: it failed.
 */
import { assign, setup } from 'xstate';

export type KnowledgeSourceState = 'pending' | 'indexing' | 'indexed' | 'failed' | 'archived';

export type KnowledgeSourceEvent =
  /** Its key was sent with other content, or it is a link whose document may have changed. */
  | { readonly type: 'source.updated' }
  /** Its key was sent again with the content it has. */
  | { readonly type: 'source.restored' }
  | { readonly type: 'source.archived' }
  | { readonly type: 'indexing.began' }
  | { readonly type: 'indexing.finished' }
  /** `error` is a sentence, for the row. */
  | { readonly type: 'indexing.failed'; readonly error: string }
  /** Stopped by a process that goes on: it drains, or could not write. */
  | { readonly type: 'indexing.stopped' }
  | { readonly type: 'process.lost' };

export interface KnowledgeSourceContext {
  /** Indexings of this content that were begun and neither ended nor were stopped. */
  readonly attempts: number;
}

/** Processes that may end while indexing one content before it is given up. The first end may have another cause. */
const ATTEMPTS_MAX = 2;

const definition = setup({
  types: { context: {} as KnowledgeSourceContext, events: {} as KnowledgeSourceEvent },
  guards: { hasEndedProcesses: ({ context }) => context.attempts >= ATTEMPTS_MAX },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    takeBackAttempt: assign({ attempts: ({ context }) => Math.max(context.attempts - 1, 0) }),
    forgetAttempts: assign({ attempts: 0 }),
  },
});

const anew = { target: 'pending', actions: 'forgetAttempts' } as const;
const outOfService = { target: 'archived', actions: 'forgetAttempts' } as const;
const gaveUp = { target: 'failed', actions: 'forgetAttempts' } as const;

export const knowledgeSource = definition.createMachine({
  id: 'knowledge-source',
  context: { attempts: 0 },
  initial: 'pending',
  states: {
    pending: {
      on: {
        'source.updated': { actions: 'forgetAttempts' },
        'source.archived': outOfService,
        'indexing.began': { target: 'indexing', actions: 'countAttempt' },
        'indexing.failed': gaveUp,
      },
    },
    indexing: {
      on: {
        'source.updated': anew,
        'source.archived': outOfService,
        'indexing.began': [{ guard: 'hasEndedProcesses', ...gaveUp }, { actions: 'countAttempt' }],
        'indexing.finished': { target: 'indexed', actions: 'forgetAttempts' },
        'indexing.failed': gaveUp,
        'indexing.stopped': { actions: 'takeBackAttempt' },
        'process.lost': {},
      },
    },
    indexed: { on: { 'source.updated': anew, 'source.archived': outOfService } },
    failed: { on: { 'source.updated': anew, 'source.restored': anew, 'source.archived': outOfService } },
    archived: { on: { 'source.updated': anew, 'source.restored': anew } },
  },
});
