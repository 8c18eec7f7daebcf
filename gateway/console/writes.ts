/** Console: what an agent writes over the setup interface, written by hand; the same rules and the same code (docs/specification/configuration.md). */
import { applyWrite } from '../../actors/configuration/writes.ts';
import { json } from '../route.ts';
import { writeRoutes } from '../write-routes.ts';
import { requireApp } from './lookup.ts';

/** By kind. 422 without an error code: every item has its own error (SETUP-30). */
export const consoleWrites = writeRoutes({
  prefix: '/console/api/apps/:app',
  caller: 'operator',
  async perform({ params }, write, services) {
    const { id: appId, organisationId } = requireApp(services, params.app).app;
    const written = await applyWrite(services.writes, { organisationId, appId, origin: 'console' }, write);
    await services.setup.settled(organisationId, appId);
    return json(written.reply, written.savedNothing ? 422 : 200);
  },
});
