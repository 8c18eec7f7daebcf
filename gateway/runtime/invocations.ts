/** POST /v1/invocations/:id/confirm and …/edit: what a person answers to a confirmation card (CONFIRM-5, CONFIRM-13). */
import { confirmRequest, editRequest } from '../../protocol/runtime/invocations.ts';
import { json, type Route, runtimeRoute } from '../route.ts';
import { actingCaller } from './identity.ts';
import { writePools } from './pools.ts';

/** Why a device is required; part of the error message. */
const WHY = 'a card is answered on the device that it was shown on';

export const invocationRoutes: readonly Route[] = [
  runtimeRoute('POST', '/v1/invocations/:id/confirm', {
    limits: writePools('confirm'),
    body: confirmRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, WHY);
      return json(await services.confirmations.confirm(caller, input.params.id ?? '', input.body));
    },
  }),
  runtimeRoute('POST', '/v1/invocations/:id/edit', {
    limits: writePools('edit'),
    body: editRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, WHY);
      return json(await services.confirmations.edit(caller, input.params.id ?? '', input.body));
    },
  }),
];
