/** The definitions of the machines of this release, as they are kept beside the traces that they make (TRACE-6). */
import { machineGraph } from '../../machines/graph.ts';
import { MACHINES } from '../../machines/index.ts';
import { machineVersion } from '../../machines/version.ts';
import type { MachineDefinition } from '../../storage/traces/traces.ts';

/** Made once: definitions never change while the program runs. */
let current: readonly MachineDefinition[] | undefined;

export function currentDefinitions(): readonly MachineDefinition[] {
  current ??= MACHINES.map(({ name, machine }) => ({
    version: machineVersion(machine),
    machine: name,
    definition: JSON.stringify(machineGraph(machine)),
  }));
  return current;
}
