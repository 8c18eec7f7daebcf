/** Parses the command line into a plan, or into one line that says what is wrong. */
import { parseArgs } from 'node:util';
import { shownKey } from './preflight.ts';
import { parseMix, parseSlo } from './slo.ts';
import { CannotRun } from './usage.ts';

export type Plan = NonNullable<ReturnType<typeof readPlan>>;

/** Visits start on schedule, whether or not earlier ones have ended. */
export interface OpenLoad {
  readonly model: 'open';
  readonly rate: number;
  readonly arrivals: 'even' | 'poisson';
}

/** As many visits at once as there are clients. */
export interface ClosedLoad {
  readonly model: 'closed';
  readonly clients: number;
  readonly thinkMs: number;
}

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string', multiple: true },
  live: { type: 'boolean' },
  rate: { type: 'string' },
  arrivals: { type: 'string' },
  clients: { type: 'string' },
  think: { type: 'string' },
  ramp: { type: 'string' },
  duration: { type: 'string' },
  drain: { type: 'string' },
  'max-open': { type: 'string' },
  mix: { type: 'string' },
  texts: { type: 'string' },
  slo: { type: 'string' },
  goodput: { type: 'string' },
  pause: { type: 'string' },
  json: { type: 'string' },
  html: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** One process can open about 28,000 connections to one address (ephemeral ports). */
const MAX_OPEN = 28_000;
const MAX_RATE = 100_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const MAX_MS = 86_400_000;

function numberOf(option: string, given: string, min: number, max: number): number {
  const value = Number(given);
  if (given.trim() !== '' && value >= min && value <= max) return value;
  throw new CannotRun(`--${option} takes a number from ${min} to ${max}, not "${given}".`);
}

function wholeOf(option: string, given: string, min: number, max: number): number {
  const value = numberOf(option, given, min, max);
  if (Number.isInteger(value)) return value;
  throw new CannotRun(`--${option} takes a whole number from ${min} to ${max}, not "${given}".`);
}

/** `500ms`, `30s`, `5m`, `1h`; a number alone is seconds. */
function timeOf(option: string, given: string, minMs: number): number {
  const [, digits = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(given.trim()) ?? [];
  const ms = digits === '' ? Number.NaN : Number(digits) * (UNIT_MS[unit] ?? 0);
  if (ms >= minMs && ms <= MAX_MS) return Math.round(ms);
  throw new CannotRun(`--${option} takes a time such as 500ms, 30s, 5m or 1h${minMs > 0 ? `, at least ${minMs} ms` : ''}, not "${given}".`);
}

function urlOf(given: string | undefined): URL {
  if (given === undefined)
    throw new CannotRun('--url is missing: say where the service is, such as --url http://127.0.0.1:8787 (--help shows all).');
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CannotRun(`--url takes an address that begins with http:// or https://, not "${given}".`);
  }
  // People paste the URL of an endpoint: take what stands before /v1.
  url.pathname = url.pathname.replace(/\/v1(?:\/.*)?$/, '').replace(/\/+$/, '');
  return url;
}

function keysOf(given: readonly string[] | undefined): readonly string[] {
  const keys = (given ?? []).flatMap((key) => key.split(',')).map((key) => key.trim());
  if (keys.length === 0)
    throw new CannotRun(
      '--key is missing: give a publishable key of the app, such as --key rd_pk_test_… (the service prints its demo’s when it starts).',
    );
  const odd = keys.find((key) => !/^[\x21-\x7e]+$/.test(key));
  if (odd !== undefined) throw new CannotRun(`--key takes a publishable key, not "${odd}".`);
  return keys;
}

type Given = ReturnType<typeof parsed>['values'];

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS });
  } catch (error) {
    // The first sentence of Node's message says what is wrong; the rest is about other spellings.
    const [first = ''] = (error as Error).message.split(/\. |\n/);
    const said = first
      .replace(/\.$/, '')
      .replace('argument is ambiguous', 'needs a value')
      .replace(/ <value>' argument missing$/, "' needs a value");
    throw new CannotRun(`${said} (--help shows all options).`);
  }
}

function loadOf(given: Given): OpenLoad | ClosedLoad {
  if (given.clients === undefined) {
    if (given.think !== undefined) throw new CannotRun('--think goes with --clients; with --rate visits begin at their own time.');
    const arrivals = given.arrivals ?? 'even';
    if (arrivals !== 'even' && arrivals !== 'poisson') throw new CannotRun(`--arrivals takes even or poisson, not "${arrivals}".`);
    return { model: 'open', rate: numberOf('rate', given.rate ?? '1', 0.001, MAX_RATE), arrivals };
  }
  if (given.rate !== undefined) throw new CannotRun('--rate and --clients are two ways to say how much: give one of them.');
  if (given.arrivals !== undefined)
    throw new CannotRun('--arrivals goes with --rate; clients begin their next visit when the last one is over.');
  return { model: 'closed', clients: wholeOf('clients', given.clients, 1, MAX_OPEN), thinkMs: timeOf('think', given.think ?? '0', 0) };
}

/** The plan of these arguments; undefined for --help. @throws CannotRun */
export function readPlan(args: readonly string[]) {
  const { values } = parsed(args);
  if (values.help) return undefined;
  return {
    given: args,
    url: urlOf(values.url),
    keys: keysOf(values.key),
    isLiveAllowed: values.live ?? false,
    load: loadOf(values),
    rampMs: timeOf('ramp', values.ramp ?? '0', 0),
    durationMs: timeOf('duration', values.duration ?? '30s', 100),
    drainMs: timeOf('drain', values.drain ?? '60s', 0),
    maxOpen: wholeOf('max-open', values['max-open'] ?? '10000', 1, MAX_OPEN),
    mix: parseMix(values.mix ?? 'new=70,continue=30'),
    textsFile: values.texts,
    slo: parseSlo(values.slo ?? ''),
    goodput: numberOf('goodput', values.goodput ?? '99', 0, 100) / 100,
    pauseMs: timeOf('pause', values.pause ?? '1s', 1),
    jsonFile: values.json,
    htmlFile: values.html,
  };
}

/** What a shell takes as it is. */
const PLAIN = /^[\w@%+=:,./-]+$/;

function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that repeats a run. Keys are shown by their beginnings, and have to be put in. */
export function commandOf({ given, keys }: Plan): string {
  const words = given.map((word) => keys.reduce((shown, key) => shown.replaceAll(key, shownKey(key)), word));
  return `npm run loadtest -- ${words.map(quoted).join(' ')}`;
}
