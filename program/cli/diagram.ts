/** Command: what a machine does in which state, and its picture as a file (DIAGRAM-8). It reads what is installed and speaks to no service. */
import { writeFileSync } from 'node:fs';
import { describeMachine, findMachine } from '../../machines/diagrams/description.ts';
import { pictureSvg } from '../../machines/diagrams/svg.ts';
import { MACHINES } from '../../machines/index.ts';
import type { MachineTable, TableCell } from '../../machines/table.ts';
import { type Call, type Command, CommandFailed, WrongUsage } from './command.ts';
import { type Row, table } from './table.ts';

/** `moves`: where to; what may be refused is named by its code. */
function wordsOf({ kind, to, refusals }: TableCell): string {
  const refused = (refusals ?? []).map((code) => `refused: ${code}`);
  return [...(kind === 'moves' ? (to ?? []) : kind === 'stays' ? ['stays'] : []), ...refused].join(' / ');
}

/** A line for each cell in which something happens: a table as wide as a machine has events fits no terminal. */
function tableRows({ rows }: MachineTable): Row[] {
  return rows.flatMap(({ state, cells }) => {
    const counting = cells.filter(({ kind }) => kind !== 'ignored');
    if (counting.length === 0) return [[state, null, null]];
    return counting.map((cell, index) => [index === 0 ? state : '', cell.event, wordsOf(cell)]);
  });
}

function writePicture(file: string, svg: string): void {
  try {
    writeFileSync(file, svg);
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}). Give --svg the path of a file in a folder that is there.`,
    );
  }
}

function run(call: Call): void {
  const [name = ''] = call.args;
  const listed = findMachine(name);
  if (listed === undefined)
    throw new WrongUsage(`There is no machine ${name}. There are: ${MACHINES.map((each) => each.name).join(', ')}.`);
  const description = describeMachine(listed);
  const { title, source, version, picture } = description;
  const file = call.option('svg');
  if (file !== undefined) writePicture(file, pictureSvg(picture, title));
  const { regions } = picture;
  const about = `${title} (${name}), version ${version}. Rules: ${source}.`;
  const each = regions === undefined ? '' : `\n${regions.length} regions beside each other, all as the table says: ${regions.join(', ')}.`;
  const text = table(['STATE', 'EVENT', 'LEADS TO'], tableRows(description.table));
  call.answer(description, `${about}${each}\n\n${text}\n\nEvery other event is ignored.`);
  if (file !== undefined) call.note(`${file} holds the picture.`);
}

export const diagramCommand: Command = {
  name: 'diagram',
  usage: '<machine>',
  does: 'Prints what a machine does in which state, such as chat-turn.',
  arity: [1, 1],
  options: { svg: { value: '<file>', does: 'write its picture there as well' } },
  run,
};
