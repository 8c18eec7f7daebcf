/** Console: the machines that decide in this service, with definition, table and picture (DIAGRAM-7). */
import { describeMachine, findMachine } from '../../machines/diagrams/description.ts';
import { MACHINES } from '../../machines/index.ts';
import { Refusal } from '../../protocol/errors.ts';
import { defineRoute, json, type Route } from '../route.ts';

const listMachinesRoute = defineRoute({
  method: 'GET',
  path: '/console/api/machines',
  caller: 'operator',
  handle() {
    const machines = MACHINES.map((listed) => {
      const { name, title, source, version, table } = describeMachine(listed);
      return { name, title, source, version, states: table.rows.length, events: table.events.length };
    });
    return json({ machines });
  },
});

const readMachineRoute = defineRoute({
  method: 'GET',
  path: '/console/api/machines/:machine',
  caller: 'operator',
  handle({ params: { machine = '' } }) {
    const listed = findMachine(machine);
    if (listed === undefined)
      throw new Refusal('not_found', `There is no machine ${machine}. GET /console/api/machines lists them by their name.`);
    return json(describeMachine(listed));
  },
});

/** For the console's route table. */
export const machineRoutes: readonly Route[] = [listMachinesRoute, readMachineRoute];
