/** What the interface answers about machines, see docs/console.md. */
import type { MachineGraph } from '../../../machines/graph.ts';
import type { MachinePicture } from '../../../machines/picture.ts';

export interface MachineLine {
  readonly name: string;
  readonly title: string;
  /** Where its rules are written. */
  readonly source: string;
  readonly version: string;
  /** How many there are. */
  readonly states: number;
  readonly events: number;
}

export interface MachinesAnswer {
  readonly machines: readonly MachineLine[];
}

export type CellKind = 'moves' | 'stays' | 'refused' | 'ignored';

export interface TableCell {
  readonly event: string;
  readonly kind: CellKind;
  /** Where it `moves`: the states that it may lead to, its own where it may stay. */
  readonly to?: readonly string[];
  /** Codes of the refusals that may come of it. */
  readonly refusals?: readonly string[];
}

export interface TableRow {
  readonly state: string;
  readonly cells: readonly TableCell[];
}

export interface MachineAnswer {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly version: string;
  readonly definition: MachineGraph;
  readonly table: { readonly events: readonly string[]; readonly rows: readonly TableRow[] };
  readonly picture: MachinePicture;
}
