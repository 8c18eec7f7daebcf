/** What `count-statements.ts` counts in a server, asked for from here. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '../servers/processes.ts';

/** In the order in which they are kept. */
export const COUNTED = ['statements', 'onLoop', 'control', 'commits'] as const;
export type Counted = (typeof COUNTED)[number];

/** `onLoop`: run by the main thread. `control`: BEGIN, COMMIT, SAVEPOINT and their like. `commits`: transactions, a lone write included. */
export type StatementCounts = Readonly<Record<Counted, number>>;

/** The counts of one program that is started with `env`. */
export class StatementCounter {
  readonly env: Readonly<Record<string, string>>;
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    const preload = pathToFileURL(join(import.meta.dirname, 'count-statements.js')).href;
    this.env = { NODE_OPTIONS: `--import=${preload}`, STATEMENT_COUNTS_PORT: String(port) };
  }

  static async create(): Promise<StatementCounter> {
    return new StatementCounter(await freePort());
  }

  /** So far. @throws when the program does not tell, or none of its statements was seen though it has stored something */
  async counts(): Promise<StatementCounts> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/`);
    const counts = (await response.json()) as StatementCounts;
    if (counts.commits === 0) throw new Error('the statements of a server are not seen: it does not run them through better-sqlite3');
    return counts;
  }
}
