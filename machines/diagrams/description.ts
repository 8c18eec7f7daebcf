/** Everything that is known of a machine without running it, as the console and the command line show it. */
import { type MachineGraph, machineGraph } from '../graph.ts';
import { type ListedMachine, MACHINES } from '../index.ts';
import type { MachinePicture } from '../picture.ts';
import { type MachineTable, machineTable } from '../table.ts';
import { machineVersion } from '../version.ts';
import { readPicture } from './picture-file.ts';
import { drawnGraph } from './region.ts';

export interface MachineDescription {
  readonly name: string;
  readonly title: string;
  /** Where its rules are written. */
  readonly source: string;
  /** Hash of the definition, 16 hex digits. */
  readonly version: string;
  readonly definition: MachineGraph;
  /** One region of a machine of equal ones, as in the picture. */
  readonly table: MachineTable;
  readonly picture: MachinePicture;
}

/** By name. Definitions and pictures do not change while the program runs. */
const described = new Map<string, MachineDescription>();

/** @throws Error of the file system when its picture was never made. */
export function describeMachine(listed: ListedMachine): MachineDescription {
  const { name, title, source, machine } = listed;
  const known = described.get(name);
  if (known !== undefined) return known;
  const definition = machineGraph(machine);
  const table = machineTable(drawnGraph(definition).graph);
  const description = { name, title, source, version: machineVersion(machine), definition, table, picture: readPicture(listed) };
  described.set(name, description);
  return description;
}

/** Undefined: there is none of this name. */
export function findMachine(name: string): ListedMachine | undefined {
  return MACHINES.find((listed) => listed.name === name);
}
