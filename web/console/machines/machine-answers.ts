/** What the interface answers about machines, see docs/console.md. */
import type { MachineGraph } from '../../../machines/graph.ts';
import type { MachinePicture } from '../../../machines/picture.ts';
import type { MachineTable } from '../../../machines/table.ts';

export interface MachineLine {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly version: string;
  readonly states: number;
  readonly events: number;
}

export interface MachinesAnswer {
  readonly machines: readonly MachineLine[];
}

export interface MachineAnswer {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly version: string;
  readonly definition: MachineGraph;
  readonly table: MachineTable;
  readonly picture: MachinePicture;
}
