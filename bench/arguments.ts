/** What the command line asks for: read, checked, and refused in one line that says what to do. Pure. */
import { parseArgs } from 'node:util';

export class UsageError extends Error {}

export interface Names {
  /** Workloads and questions, in the order in which they are played. */
  readonly parts: readonly string[];
  /** Servers that a whole run measures; the others have to be named. */
  readonly servers: readonly string[];
  /** Those of `servers` that a quick run leaves out unless they are named: they may have to be installed. */
  readonly peers: readonly string[];
  /** Those of `servers` that are measured where they are named only. */
  readonly apart?: readonly string[];
}

export interface Arguments {
  readonly parts: readonly string[];
  readonly servers: readonly string[];
  readonly against: string | undefined;
  readonly rounds: number;
  /** Shows in a few minutes that everything runs; its figures are not for quoting. */
  readonly quick: boolean;
  /** Whether the parts were named: a quick run leaves out what is long, unless it was asked for. */
  readonly named: boolean;
}

const ROUNDS = 5;
const ROUNDS_MAX = 1_000;

const OPTIONS = {
  only: { type: 'string' },
  peer: { type: 'string' },
  against: { type: 'string' },
  rounds: { type: 'string' },
  quick: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const OPTIONS_SHOWN = Object.keys(OPTIONS)
  .map((name) => `--${name}`)
  .join(', ');

/** Those of `all` that a comma-separated option names, in the order of `all`; undefined without the option. */
function namesOf(option: string, all: readonly string[], given: string | undefined): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new UsageError(`--${option} does not know "${unknown}": choose from ${all.join(', ')}`);
  return all.filter((name) => names.includes(name));
}

function numberOf(option: string, max: number, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > max) throw new UsageError(`--${option} takes a whole number from 1 to ${max}`);
  return value;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // The first sentence names the option; what follows it is about the syntax of options in general.
    const [what = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/);
    throw new UsageError(`${what}: the options are ${OPTIONS_SHOWN}`);
  }
}

export function asksForHelp(argv: readonly string[]): boolean {
  return parse(argv).values.help === true;
}

/** What is asked for in place of a run: `report <report.json>` or `readme [report.json]`; undefined when a run is. @throws UsageError */
export function commandOf(
  argv: readonly string[],
): { readonly command: 'report' | 'readme'; readonly file: string | undefined } | undefined {
  const [command, file, ...more] = argv;
  if (command !== 'report' && command !== 'readme') return undefined;
  if (more.length > 0 || (file === undefined && command === 'report'))
    throw new UsageError(`${command} takes one file: the report.json of a run`);
  return { command, file };
}

/** Server names and parts of a short run: what the service is held against, and all that is aimed at, in a quarter of an hour. */
const SHORT = { parts: /^(?:W[1-6]|COLD)$/, servers: /^(?:relay|service|service-all|fastify)$/, rounds: 2 } as const;

export function readArguments(argv: readonly string[], { parts, servers, peers, apart = [] }: Names): Arguments {
  const { values, positionals } = parse(argv);
  const stray = positionals.find((word) => word !== 'quick' && word !== 'short');
  if (stray !== undefined)
    throw new UsageError(`"${stray}" is no command: only quick, short, report and readme are, and the options are ${OPTIONS_SHOWN}`);
  const quick = values.quick === true || positionals.includes('quick');
  const short = positionals.includes('short');
  const only = namesOf('only', parts, values.only);
  const usual = servers.filter((name) => {
    return short ? SHORT.servers.test(name) : !apart.includes(name) && !(quick && peers.includes(name));
  });
  return {
    parts: only ?? parts.filter((name) => !short || SHORT.parts.test(name)),
    servers: namesOf('peer', servers, values.peer) ?? usual,
    against: values.against,
    rounds: numberOf('rounds', ROUNDS_MAX, values.rounds) ?? (quick ? 1 : short ? SHORT.rounds : ROUNDS),
    quick,
    named: only !== undefined,
  };
}

export interface Choices {
  readonly parts: readonly { readonly name: string; readonly what: string }[];
  readonly servers: readonly { readonly name: string; readonly what: string }[];
}

function listOf(rows: readonly { readonly name: string; readonly what: string }[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.map(({ name, what }) => `  ${name.padEnd(width)}${what}`).join('\n');
}

export function helpText({ parts, servers }: Choices): string {
  return `What a delta and a turn cost the service, beside a raw relay and servers of others. bench/README.md explains it.

  npm run bench                               everything, five rounds: some hours, on a machine that does nothing else
  npm run bench -- quick                      relay and service, one short round, under three minutes; not for quoting
  npm run bench -- short                      W1 to W6 and COLD of relay, service and fastify, two rounds: a quarter of an hour
  npm run bench -- readme [FILE]              no run: keeps the report.json and what is made of it in bench/results, and makes the figures of README.md of the latest
  npm run bench -- report FILE                no run: the page, the tables and the plot anew from a report.json, beside it

  --only LIST      some parts, as W1,W3
  --peer LIST      some servers, as relay,service
  --rounds N       rounds of each part (5; quick: 1)
  --against DIR    beside another build of the service, as ../earlier/dist
  --quick          the same as the command quick
  --help           this

Parts
${listOf(parts)}

Servers
${listOf(servers)}

SYNC_DELAY_US=1000 adds a millisecond to each sync of the servers' disk. Results: bench/out/report.html, report.json, report.md, cpu.svg.
`;
}
