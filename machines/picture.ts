/** A machine drawn. The pictures lie in machines/pictures/ and are made when building, so that no browser lays anything out. */

/** A machine drawn: coordinates in pixels, origin top left. Made when building (npm run diagrams), never in a browser. */
export interface MachinePicture {
  /** Name as in MACHINES. */
  readonly machine: string;
  /** Hash of the definition, 16 hex digits. */
  readonly version: string;
  readonly width: number;
  readonly height: number;
  /** Parents before children. */
  readonly states: readonly PictureState[];
  readonly edges: readonly PictureEdge[];
  /** Initial dots: one per level that has one. */
  readonly start: readonly PictureStart[];
  /** A machine of equal regions: one region is drawn, the rest is this table. Region ids in order. */
  readonly regions?: readonly string[];
  /** The same with names alone, for where the picture does not fit: as wide as a window leaves it, beside a matrix, and for a phone. */
  readonly outlines: readonly MachineOutline[];
}

/** States and lines: no rows, and each line has one label without words, the room for a count. */
export interface MachineOutline extends Pick<MachinePicture, 'width' | 'height' | 'states' | 'edges' | 'start'> {
  readonly isOutline?: true;
}

export interface PicturePoint {
  readonly x: number;
  readonly y: number;
}

export interface PictureState {
  /** Dotted path; in a drawn region without the region's name. */
  readonly id: string;
  readonly label: string;
  readonly parent?: string;
  readonly final: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly PictureRow[];
}

/** A transition without a target, written inside its state; `refusal` where its only effect is a named refusal. */
export interface PictureRow {
  readonly event: string;
  readonly guard?: string;
  readonly refusal?: string;
  readonly y: number;
}

export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly labels: readonly PictureLabel[];
  readonly points: readonly PicturePoint[];
}

export interface PictureLabel {
  readonly event: string;
  readonly guard?: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface PictureStart {
  readonly x: number;
  readonly y: number;
  readonly to: string;
  readonly points: readonly PicturePoint[];
}
