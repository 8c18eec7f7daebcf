/** The setup actors of one node in this process, closed after the test. */
import type { TestContext } from 'node:test';
import pino from 'pino';
import { silentAnnouncer } from '../../../actors/announcements.ts';
import { createSetup, type Setup } from '../../../actors/setup/setup.ts';
import { servingNode } from '../../support/node.ts';

type Parts = Parameters<typeof createSetup>[0];

/** Sets no timers: a test settles deadlines itself. Announces and logs nothing unless `parts` says otherwise. */
export function setupOnStorage(t: TestContext, parts: Pick<Parts, 'storage' | 'nowMs'> & Partial<Parts>): Setup {
  const log = pino({ level: 'silent' });
  const setup = createSetup({
    others: silentAnnouncer,
    node: servingNode(),
    log,
    noteDeadline: () => {},
    mailsPlanned: () => {},
    ...parts,
  });
  t.after(() => setup.close());
  return setup;
}
