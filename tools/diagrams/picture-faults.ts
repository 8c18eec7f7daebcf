/** What makes a picture hard to read, as sentences: words over words, lines through words, what hangs in the air. */
import { INSET_PX, inBrackets, REFUSAL_GAP_PX, TEXT_PX, textWidth } from '../../machines/diagrams/text.ts';
import type { MachineOutline, PictureLabel, PicturePoint, PictureState } from '../../machines/picture.ts';
import { covers, labelBox, overlap, piecesOf } from './geometry.ts';

/** Coordinates are rounded to tenths. */
const NEARLY_PX = 0.5;

interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function inset({ x, y, width, height }: Omit<Placed, 'name'>, by: number): Omit<Placed, 'name'> {
  return { x: x + by, y: y + by, width: width - 2 * by, height: height - 2 * by };
}

function contains(outer: Omit<Placed, 'name'>, { x, y, width, height }: Omit<Placed, 'name'>): boolean {
  const right = outer.x + outer.width + NEARLY_PX;
  const bottom = outer.y + outer.height + NEARLY_PX;
  return x >= outer.x - NEARLY_PX && y >= outer.y - NEARLY_PX && x + width <= right && y + height <= bottom;
}

function isOnBorder(state: PictureState, { x, y }: PicturePoint): boolean {
  const isNear = (one: number, other: number) => Math.abs(one - other) <= NEARLY_PX;
  const isInside = contains(state, { x, y, width: 0, height: 0 });
  const isOnSide = isNear(x, state.x) || isNear(x, state.x + state.width) || isNear(y, state.y) || isNear(y, state.y + state.height);
  return isInside && isOnSide;
}

function nameOf({ event, guard }: Pick<PictureLabel, 'event' | 'guard'>): string {
  return guard === undefined ? event : `${event} ${inBrackets(guard)}`;
}

function innermost({ states }: MachineOutline): PictureState[] {
  return states.filter(({ id }) => !states.some(({ parent }) => parent === id));
}

/** Labels and states over each other, and what leaves the picture. */
function overlaps(picture: MachineOutline): string[] {
  const labels = picture.edges.flatMap((edge) =>
    edge.labels.map((label) => ({ name: `${nameOf(label)} of ${edge.from}`, ...labelBox(label) })),
  );
  const boxes: Placed[] = [...labels, ...innermost(picture).map((state) => ({ name: state.id, ...inset(state, 0) }))];
  const all = { x: 0, y: 0, width: picture.width, height: picture.height };
  return boxes.flatMap((one, index) => [
    ...boxes.slice(index + 1).flatMap((other) => (overlap(one, other) ? [`${one.name} and ${other.name} lie over each other`] : [])),
    ...(contains(all, one) ? [] : [`${one.name} leaves the picture`]),
  ]);
}

function linesThroughStates(picture: MachineOutline): string[] {
  const lines = [...picture.edges, ...picture.start.map(({ to, points }) => ({ from: 'a dot', to, points }))];
  return lines.flatMap((edge) =>
    innermost(picture)
      .filter((state) => piecesOf(edge).some((piece) => covers(piece, inset(state, 1))))
      .map(({ id }) => `the line from ${edge.from} to ${edge.to} runs through ${id}`),
  );
}

function looseEnds({ states, edges, start }: MachineOutline): string[] {
  const meets = (id: string, point: PicturePoint | undefined) => {
    const state = states.find((each) => each.id === id);
    return state !== undefined && point !== undefined && isOnBorder(state, point);
  };
  return [
    ...edges.flatMap(({ from, to, points }) =>
      meets(from, points[0]) && meets(to, points.at(-1)) ? [] : [`${from} to ${to} hangs in the air`],
    ),
    ...start.flatMap(({ to, points }) => (meets(to, points.at(-1)) ? [] : [`the dot of ${to} leads nowhere`])),
    ...states.flatMap((state) => {
      const around = states.find(({ id }) => id === state.parent);
      return around === undefined || contains(around, state) ? [] : [`${state.id} is not inside ${around.id}`];
    }),
  ];
}

function narrowText({ states, edges }: MachineOutline): string[] {
  const labels = edges.flatMap((edge) => edge.labels);
  return [
    ...labels
      .filter(({ event, guard = '', width }) => width < Math.max(textWidth(event, TEXT_PX), textWidth(inBrackets(guard), TEXT_PX)))
      .map(nameOf),
    ...states.flatMap(({ width, rows }) =>
      rows
        .filter((row) => {
          const refusal = row.refusal === undefined ? 0 : REFUSAL_GAP_PX + textWidth(row.refusal, TEXT_PX);
          return textWidth(nameOf(row), TEXT_PX) + refusal > width - 2 * INSET_PX;
        })
        .map(nameOf),
    ),
  ].map((name) => `${name} has too little room`);
}

/** Empty for a picture that reads well. */
export function faultsOf(picture: MachineOutline): string[] {
  return [overlaps, linesThroughStates, looseEnds, narrowText].flatMap((check) => check(picture));
}
