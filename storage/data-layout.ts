/**
 * Where everything lies in the data directory. Defined elsewhere: locks, which exist before the directory is set up (lock.ts,
 * restore.ts), and the sockets of nodes (actors/cluster/nodes/node-id.ts), whose paths must stay short because of the kernel's limit.
 */
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isId } from '../protocol/ids.ts';

const KINDS = { org: 'organisation', upl: 'upload' } as const;

/** Only the service's own ids may become part of a path. */
function requireId(prefix: keyof typeof KINDS, id: string): void {
  if (!isId(prefix, id)) throw new Error(`not an ${KINDS[prefix]} id: ${JSON.stringify(id.slice(0, 64))}`);
}

/** The layout below `dir` (`DATA_DIR`, STORE-8); touches no disk. All paths are absolute. Those of ids throw unless they are ids of their kind. */
export function dataLayout(dir: string) {
  const root = resolve(dir);
  const organisations = join(root, 'organisations');
  const uploads = join(root, 'uploads');
  const uploadsOf = (organisationId: string) => {
    requireId('org', organisationId);
    return join(uploads, organisationId);
  };
  return {
    dir: root,
    control: join(root, 'control.sqlite'),
    organisation(id: string): string {
      requireId('org', id);
      // Asked for at every read and write; its parts are normal already.
      return `${organisations}/${id}.sqlite`;
    },
    organisations,
    operatorToken: join(root, 'operator-token'),
    masterKey: join(root, 'master-key'),
    uploads,
    uploadsOf,
    upload(organisationId: string, uploadId: string): string {
      requireId('upl', uploadId);
      return join(uploadsOf(organisationId), uploadId);
    },
    outbox: join(root, 'outbox'),
    /** Files of the web SDK, of this release and of those before it. */
    webSdk: join(root, 'web-sdk'),
    /** What the keeper of the replica knows: its configuration, its lock, how far the replica is. */
    replica: join(root, 'replica'),
    /** Its time is that of the last backup that ended well. */
    lastBackup: join(root, 'last-backup'),
    directoryId: join(root, 'directory-id'),
    /** There once another host took the cell over. */
    overtaken: join(root, 'overtaken'),
    movesOf(organisationId: string): string {
      requireId('org', organisationId);
      return join(root, 'moves', organisationId);
    },
  };
}

export type DataLayout = Readonly<ReturnType<typeof dataLayout>>;

const REASONS: Readonly<Record<string, string>> = { EEXIST: 'there is a file', ENOTDIR: 'a file is in its way' };

/**
 * Makes a folder that the operator named, with those above it, mode 0700. One after the other: where the system lets no process make one, as
 * below /proc, Node's own recursion never ends.
 * @throws Error with one sentence when it cannot be made.
 */
export function makeFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (dirname(path) !== path) makeFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // Another process may have made it meanwhile.
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code === '') throw error;
    throw new Error(`The folder ${path} cannot be made: ${REASONS[code] ?? message}.`, { cause: error });
  }
}

/** Replaces a small file, readable for its owner only, as a whole, so that other processes never read half of it. Its folder is there. */
export function replaceFile(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function prepareDataDir(dir: string): DataLayout {
  const layout = dataLayout(dir);
  for (const folder of [layout.dir, layout.organisations, layout.uploads, layout.outbox]) {
    makeFolder(folder);
    // mkdir does not change the mode of an existing folder. A correct mode is left alone, because the disk may be read-only.
    if ((statSync(folder).mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
  }
  return layout;
}
