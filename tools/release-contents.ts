/** What a release holds beside the program: the packages of a platform, by the lock file, and what has to be said of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Target {
  readonly platform: string;
  readonly cpu: string;
  /** NODE_MODULE_VERSION: natives of one Node do not load in another. */
  readonly abi: string;
}

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** By path, such as `node_modules/a/node_modules/b`. */
export type Packages = Readonly<Record<string, LockedPackage>>;

export interface Lock {
  readonly packages: Packages;
}

/** Dependencies of the project that the program does not load: browsers' scripts hold their own copy, and of some it has types alone. */
const NOT_LOADED: ReadonlySet<string> = new Set([
  ...[
    'bwip-js',
    'character-entities-html4',
    'diff',
    'eventsource-parser',
    'highlight.js',
    'lowlight',
    'markdown-it',
    'preact',
    'preact-iso',
  ],
  'openai',
  // It draws pages of PDFs, of which the service reads the text only, and is larger than all else.
  '@napi-rs/canvas',
]);

const fits = ({ os, cpu, libc }: LockedPackage, target: Target) =>
  (os?.includes(target.platform) ?? true) && (cpu?.includes(target.cpu) ?? true) && (libc?.includes('glibc') ?? true);

/** Where `name` is found from a package at `from`, as Node looks for it; undefined: it is not there. */
function found({ packages }: Lock, from: string, name: string): string | undefined {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (packages[path] !== undefined) return path;
  return from === '' ? undefined : found({ packages }, from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1)), name);
}

/** What the program needs at run time on this platform, sorted by path. */
export function packagesFor(lock: Lock, target: Target): Packages {
  const needed = new Map<string, LockedPackage>();
  const visit = (path: string) => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = lock.packages[path] ?? {};
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const at = found(lock, path, name);
      const entry = at === undefined ? undefined : lock.packages[at];
      if (at === undefined || entry === undefined || needed.has(at) || NOT_LOADED.has(name) || !fits(entry, target)) continue;
      needed.set(at, entry);
      visit(at);
    }
  };
  visit('');
  return Object.fromEntries([...needed].sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Bill {
  serialNumber?: string;
  readonly metadata: { timestamp: string };
  components: readonly { readonly 'bom-ref': string; readonly properties?: readonly { readonly name: string; readonly value: string }[] }[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** npm's bill of materials (CycloneDX) without what is not inside, and without what each run has anew. */
export function billOfMaterials(text: string, packages: Packages, madeAtS: number): string {
  const bill = JSON.parse(text) as Bill;
  delete bill.serialNumber;
  bill.metadata.timestamp = new Date(madeAtS * 1_000).toISOString();
  // npm tells one place of a package that lies in several.
  const inside = new Set(
    Object.entries(packages).map(
      ([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
    ),
  );
  const left = bill.components.filter(
    ({ 'bom-ref': ref, properties }) =>
      !inside.has(ref) && !properties?.some(({ name, value }) => name === 'cdx:npm:package:path' && packages[value] !== undefined),
  );
  const isLeft = new Set(left.map((component) => component['bom-ref']));
  bill.components = bill.components.filter((component) => !left.includes(component));
  for (const component of bill.components) isLeft.delete(component['bom-ref']);
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => !isLeft.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !isLeft.has(each)) }));
  return `${JSON.stringify(bill, null, 1)}\n`;
}

const LICENCE = /^(?:licen[cs]e|notice|copying)/i;

/** The licence of each package, in its own words where it brings them. */
export function licencesOf(stage: string, packages: Packages): string {
  const texts = Object.entries(packages).map(([path, { version, license }]) => {
    const folder = join(stage, path);
    const words = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && LICENCE.test(entry.name))
      .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim());
    const name = path.slice('node_modules/'.length);
    return `${name} ${version}: ${license ?? 'see below'}\n\n${words.length === 0 ? 'The package brings no text of its licence.' : words.join('\n\n')}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
