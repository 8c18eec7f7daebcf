/** POST /v1/invocations/:id/confirm and …/edit (CONFIRM-5, CONFIRM-13): what a person answers to a confirmation card. */
import { confirmRequest, editRequest } from '../../protocol/runtime/invocations.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { actingCaller } from './identity.ts';
import { writePools } from './pools.ts';

const WHY = 'a card is answered on the device that it was shown on';

export const invocationRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/invocations/:id/confirm',
    caller: 'runtime',
    limits: writePools('confirm'),
    body: confirmRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, WHY);
      return json(await services.confirmations.confirm(caller, input.params.id ?? '', input.body));
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/invocations/:id/edit',
    caller: 'runtime',
    limits: writePools('edit'),
    body: editRequest,
    suspended: 'quota_exceeded',
    async handle(input, services) {
      const caller = actingCaller(input, services, WHY);
      return json(await services.confirmations.edit(caller, input.params.id ?? '', input.body));
    },
  }),
];
