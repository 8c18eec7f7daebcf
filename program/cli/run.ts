/** From the words of a command line to a command's call and its exit code. */
import { parseArgs } from 'node:util';
import { type Call, type Command, type Surroundings, WrongUsage } from './command.ts';
import { COMMON_OPTIONS, helpText, requireCommand, usageLine } from './commands.ts';
import { createConsoleClient, operatorBearer, serviceUrl } from './console-client.ts';

interface Parsed {
  readonly args: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** @throws WrongUsage */
function parse(command: Command, words: readonly string[]): Parsed {
  const known = Object.entries({ ...command.options, ...COMMON_OPTIONS });
  const options = Object.fromEntries(
    known.map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' } as const]),
  );
  let parsed: Parsed;
  try {
    const { positionals, values } = parseArgs({ args: [...words], options, allowPositionals: true });
    parsed = { args: positionals, values };
  } catch (error) {
    // Its first sentence names the option; the rest explains how to escape a dash.
    throw new WrongUsage(((error as Error).message.split('. ', 1)[0] ?? '').replace(/\.?$/, '.'));
  }
  const [least, most] = command.arity;
  const { length } = parsed.args;
  if (parsed.values.help !== true && (length < least || length > most)) {
    throw new WrongUsage(
      length < least ? `${command.name} needs ${command.usage}.` : `${command.name} takes no ${JSON.stringify(parsed.args[most])}.`,
    );
  }
  return parsed;
}

function callOf({ args, values }: Parsed, surroundings: Surroundings): Call {
  const option = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  return {
    ...surroundings,
    args,
    option,
    flag: (name) => values[name] === true,
    answer: (value, text) => surroundings.print(values.json === true ? JSON.stringify(value) : text),
    service: () =>
      createConsoleClient(serviceUrl(option('url'), surroundings.config), operatorBearer(surroundings.config(), surroundings.nowMs)),
  };
}

/** What a person can mend is one line; a bug keeps its stack. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const bug = ['TypeError', 'RangeError', 'ReferenceError', 'AssertionError'].includes(error.name);
  return bug ? (error.stack ?? error.message) : error.message;
}

/**
 * Runs the command that the words name; never throws.
 * @returns the exit code: 0 done, 1 failed (one line on standard error says what to do), 2 called wrongly.
 */
export async function runCli(words: readonly string[], surroundings: Surroundings): Promise<0 | 1 | 2> {
  const [name, ...rest] = words;
  let command: Command | undefined;
  try {
    if (name === undefined) {
      surroundings.note(helpText());
      return 2;
    }
    if (name === '--help' || name === '-h') {
      surroundings.print(helpText());
      return 0;
    }
    if (name.startsWith('-')) throw new WrongUsage(`The command comes before its options, not ${name}.`);
    command = requireCommand(name);
    const parsed = parse(command, rest);
    if (parsed.values.help === true) surroundings.print(helpText(command.name));
    else await command.run(callOf(parsed, surroundings));
    return 0;
  } catch (error) {
    surroundings.note(told(error));
    if (!(error instanceof WrongUsage)) return 1;
    surroundings.note(`Usage: ${command === undefined ? 'npm run cli -- help' : usageLine(command)}`);
    return 2;
  }
}
