/** Everything that is known of a machine without running it, as the console and the command line show it. */

import { readFileSync } from 'node:fs';
import { type MachineGraph, machineGraph } from '../graph.ts';
import { type ListedMachine, MACHINES } from '../index.ts';
import type { MachinePicture } from '../picture.ts';
import { type MachineTable, machineTable } from '../table.ts';
import { machineVersion } from '../version.ts';
import { drawnGraph } from './region.ts';

/** Seen from the compiled file: the pictures are installed with the program as they are committed. */
const FOLDER = new URL('../../../machines/pictures/', import.meta.url);

/** The picture of a listed machine; a test holds it against the definition. @throws Error of the file system when it was never made. */
export function readPicture({ name }: Pick<ListedMachine, 'name'>): MachinePicture {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as MachinePicture;
}

export interface MachineDescription {
  readonly name: string;
  readonly title: string;
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
