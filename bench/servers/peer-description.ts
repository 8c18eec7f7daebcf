/**
 * What a folder of `bench/peers/` says of its server: `peer.json`, checked, and the packages of its `package.json`. Pure but for reading them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

const some = v.pipe(v.string(), v.minLength(1));
const mark = { in: v.optional(some), event: v.optional(some) };

const description = v.strictObject({
  /** What the server keeps of a turn: whoever keeps more does more. */
  keeps: some,
  /** Said of it where it stands beside the others: what was chosen, and why. */
  notes: some,
  /** Answers 200 to GET once the server is ready. */
  ready: v.pipe(v.string(), v.startsWith('/')),
  /** Settings for production that its documents name; nothing that turns off what its users have. */
  env: v.optional(v.record(v.string(), v.string()), {}),
  request: v.strictObject({
    path: v.pipe(v.string(), v.startsWith('/')),
    /** `%UPSTREAM%` becomes the address of the model, up to and with /v1. */
    headers: v.optional(v.array(some), []),
    /** `%MODEL%` becomes its name, and `%TURN%`, at most once, a fresh uuid per request. */
    body: v.record(v.string(), v.unknown()),
  }),
  answer: v.strictObject({
    text: v.strictObject({ ...mark, after: some }),
    end: v.optional(v.strictObject(mark)),
    error: v.optional(v.strictObject(mark)),
  }),
  openStreams: v.pipe(v.number(), v.integer(), v.minValue(100)),
});

const manifest = v.looseObject({ description: some, dependencies: v.record(v.string(), some) });

export interface PeerDescription extends v.InferOutput<typeof description> {
  readonly name: string;
  readonly folder: string;
  readonly what: string;
  readonly versions: Readonly<Record<string, string>>;
}

function read<S extends v.GenericSchema>(schema: S, file: string): v.InferOutput<S> {
  const result = v.safeParse(schema, JSON.parse(readFileSync(file, 'utf8')));
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`${file}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
}

/** All that lie below `peersDir`, by name. @throws for a description that is not whole */
export function readPeers(peersDir: string): readonly PeerDescription[] {
  const names = readdirSync(peersDir).filter((name) => existsSync(join(peersDir, name, 'peer.json')));
  return names.sort().map((name) => {
    const folder = join(peersDir, name);
    const { description: what, dependencies: versions } = read(manifest, join(folder, 'package.json'));
    return { ...read(description, join(folder, 'peer.json')), name, folder, what, versions };
  });
}
