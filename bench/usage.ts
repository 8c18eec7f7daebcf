/** The help text of the benchmark. Pure. */

/** What can be asked for, each with what it is in a few words. */
export interface Choices {
  readonly parts: readonly { readonly name: string; readonly what: string }[];
  readonly servers: readonly { readonly name: string; readonly what: string }[];
}

function listOf(rows: readonly { readonly name: string; readonly what: string }[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.map(({ name, what }) => `  ${name.padEnd(width)}${what}`).join('\n');
}

/** What the benchmark can be asked for, for whoever says `--help`. */
export function helpText({ parts, servers }: Choices): string {
  return `What a delta and a turn cost the service, beside a raw relay and servers of others. bench/README.md explains it.

  npm run bench                               everything, five rounds: some hours, on a machine that does nothing else
  npm run bench -- quick                      relay and service, one short round, under three minutes; not for quoting
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
