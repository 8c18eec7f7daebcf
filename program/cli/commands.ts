/** The table of all commands, and the help that is made of it. */
import { backupCommand, restoreCommand } from './backups.ts';
import { type Command, type CommandOption, WrongUsage } from './command.ts';
import { configCommand, doctorCommand } from './configuration.ts';
import { diagramCommand } from './diagram.ts';
import { moveCommand } from './move.ts';
import { actorsCommand, drainCommand, nodesCommand } from './nodes.ts';
import { replayCommand } from './replay.ts';
import { cellCommand } from './replicas.ts';
import { tokenCommand } from './token.ts';
import { watchCommand } from './watch.ts';

export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  url: { value: '<url>', does: 'the node to talk to (PUBLIC_URL, or http://HOST:PORT)' },
  json: { does: 'print JSON, for programs' },
  help: { does: 'say what the command takes' },
};

const helpCommand: Command = {
  name: 'help',
  usage: '[command]',
  does: 'Says what there is, or what a command takes.',
  arity: [0, 1],
  options: {},
  run: (call) => call.print(helpText(call.args[0])),
};

export const COMMANDS: readonly Command[] = [
  nodesCommand,
  actorsCommand,
  drainCommand,
  moveCommand,
  backupCommand,
  restoreCommand,
  cellCommand,
  tokenCommand,
  configCommand,
  doctorCommand,
  diagramCommand,
  replayCommand,
  watchCommand,
  helpCommand,
];

/** @throws WrongUsage naming those that there are. */
export function requireCommand(name: string): Command {
  const command = COMMANDS.find((each) => each.name === name);
  if (command !== undefined) return command;
  throw new WrongUsage(`There is no command ${name}. There are: ${COMMANDS.map((each) => each.name).join(', ')}.`);
}

function called({ name, usage }: Command): string {
  return usage === '' ? name : `${name} ${usage}`;
}

/** How the command is called, in one line. */
export function usageLine(command: Command): string {
  const options = Object.keys(command.options).length > 0 ? ' [options]' : '';
  return `npm run cli -- ${called(command)}${options}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
}

function optionRows(options: Readonly<Record<string, CommandOption>>): [string, string][] {
  return Object.entries(options).map(([name, { value, does }]) => [`--${name}${value === undefined ? '' : ` ${value}`}`, does]);
}

const ENVIRONMENT =
  'DATA_DIR, OPERATOR_TOKEN, MASTER_KEY, PUBLIC_URL, HOST and PORT are read as the service reads them.\nExit code: 0 done, 1 failed, 2 called wrongly.';

/** The help for all commands, or for one. @throws WrongUsage */
export function helpText(name?: string): string {
  if (name === undefined) {
    const commands = columns(COMMANDS.map((command) => [called(command), command.does] as const));
    return `npm run cli -- <command> [options]\n\n${commands}\n\nOptions of all commands:\n\n${columns(optionRows(COMMON_OPTIONS))}\n\n${ENVIRONMENT}`;
  }
  const command = requireCommand(name);
  return `${usageLine(command)}\n\n${command.does}\n\n${columns([...optionRows(command.options), ...optionRows(COMMON_OPTIONS)])}`;
}
