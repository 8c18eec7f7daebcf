/** The Eclipse Layout Kernel: the only file that knows the library, and the shapes that it is given and gives back. */
import elk from 'elkjs/lib/elk.bundled.js';

export type ElkOptions = Readonly<Record<string, string>>;

/** What is to be laid out: sizes only. */
export interface ElkNode {
  readonly id: string;
  readonly width?: number;
  readonly height?: number;
  readonly layoutOptions?: ElkOptions;
  readonly children?: readonly ElkNode[];
  readonly edges?: readonly ElkEdge[];
}

export interface ElkEdge {
  readonly id: string;
  readonly sources: readonly [string];
  readonly targets: readonly [string];
  readonly labels: readonly ElkLabel[];
}

export interface ElkLabel {
  readonly text: string;
  readonly width: number;
  readonly height: number;
  readonly layoutOptions: ElkOptions;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** The same with coordinates, all from the top left of the whole. */
export interface LaidNode extends Box {
  readonly id: string;
  readonly children?: readonly LaidNode[];
  readonly edges?: readonly LaidEdge[];
}

export interface LaidEdge {
  readonly id: string;
  readonly sections?: readonly { readonly startPoint: Point; readonly endPoint: Point; readonly bendPoints?: readonly Point[] }[];
  readonly labels?: readonly Box[];
}

/** The same graph and options give the same coordinates: its random numbers have a fixed seed. @throws Error of the library. */
export async function lay(graph: ElkNode): Promise<LaidNode> {
  const laid: unknown = await new elk.default().layout(structuredClone(graph) as never);
  return laid as LaidNode;
}
