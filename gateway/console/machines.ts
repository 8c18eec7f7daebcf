/** Console: the machines that decide in this service, with definition, table and picture (DIAGRAM-7). */
import { describeMachine, findMachine } from '../../machines/diagrams/description.ts';
import { MACHINES } from '../../machines/index.ts';
import { Refusal } from '../../protocol/errors.ts';
import { consoleRoute, json, type Route } from '../route.ts';

const listMachinesRoute = consoleRoute('GET', '/machines', undefined, () => {
  const machines = MACHINES.map((listed) => {
    const { name, title, source, version, table } = describeMachine(listed);
    return { name, title, source, version, states: table.rows.length, events: table.events.length };
  });
  return json({ machines });
});

const readMachineRoute = consoleRoute('GET', '/machines/:machine', undefined, ({ params: { machine = '' } }) => {
  const listed = findMachine(machine);
  if (listed === undefined)
    throw new Refusal('not_found', `There is no machine ${machine}. GET /console/api/machines lists them by their name.`);
  return json(describeMachine(listed));
});

export const machineRoutes: readonly Route[] = [listMachinesRoute, readMachineRoute];
