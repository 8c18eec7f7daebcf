/** The setup interface's table of contents (docs/specification/setup.md). */
import { proposeWrite } from '../../actors/configuration/proposals.ts';
import type { WriteTarget } from '../../actors/configuration/write-queue.ts';
import { applyWrite } from '../../actors/configuration/writes.ts';
import { STEP_OF_WRITE } from '../../protocol/setup/writes.ts';
import { json, type Route } from '../route.ts';
import { writeRoutes } from '../write-routes.ts';
import { readRoutes } from './reads.ts';
import { sessionRoutes } from './session.ts';

/** What each item of a batch lacked, by its key. */
function faultsOf({ results }: Readonly<Record<string, unknown>>): string {
  const items = (Array.isArray(results) ? results : []) as readonly { readonly external_key?: string; readonly error?: string }[];
  return items.map(({ external_key: key, error }) => `${key ?? 'an item'}: ${error ?? 'refused'}`).join('; ');
}

/** By kind. Carries a write out or keeps it for a person, and puts its line on the panel. What saved nothing leaves a line that says why. */
export const setupWrites = writeRoutes({
  prefix: '/setup',
  caller: 'setup',
  async perform({ caller: { ref, writes } }, write, { setup, writes: services }) {
    const target: WriteTarget = { organisationId: ref.organisationId, appId: ref.appId, origin: 'setup' } as const;
    const proposes = writes === 'propose';
    const written = proposes
      ? await proposeWrite(services, target, ref.sessionId, write)
      : { ...(await applyWrite(services, target, write)), status: 200 };
    if (written.savedNothing) {
      await setup.agent.refused(ref, STEP_OF_WRITE[write.kind], write.kind, `${written.line} ${faultsOf(written.reply)}`.trim());
      return json(written.reply, 422);
    }
    try {
      await setup.agent.wrote(ref, STEP_OF_WRITE[write.kind], written.line);
    } finally {
      // The write counts also when its session has ended meanwhile; the agent gets that error.
      if (!proposes) await setup.settled(ref.organisationId, ref.appId);
    }
    return json(written.reply, written.status);
  },
  async refused({ caller: { ref } }, kind, { code, message, details }, { setup }) {
    const faults = details?.map(({ path, message: what }) => `${path} ${what}`).join('; ');
    await setup.agent.refused(ref, STEP_OF_WRITE[kind], kind, `${code}: ${faults || message}`);
  },
});

export const setupRoutes: readonly Route[] = [...sessionRoutes, ...readRoutes, ...Object.values(setupWrites)];
