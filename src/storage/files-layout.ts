/** Where everything lies in the data directory. Nobody else joins a path below it. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isId } from '../protocol/ids.ts';

export interface DataLayout {
  readonly dir: string;
  /** The one database of accounts, apps and sessions. */
  readonly control: string;
  /** An organisation's own database. Throws for anything but an `org_…` id, so that no input becomes a path. */
  organisation(id: string): string;
  readonly organisations: string;
  readonly operatorToken: string;
  readonly masterKey: string;
  readonly uploads: string;
  readonly outbox: string;
}

/** The layout below `dir` (`DATA_DIR`, decisions §1); touches no disk. All paths are absolute. */
export function dataLayout(dir: string): DataLayout {
  const root = resolve(dir);
  const organisations = join(root, 'organisations');
  return {
    dir: root,
    control: join(root, 'control.sqlite'),
    organisation(id) {
      if (!isId('org', id)) throw new Error(`not an organisation id: ${JSON.stringify(id.slice(0, 64))}`);
      return join(organisations, `${id}.sqlite`);
    },
    organisations,
    operatorToken: join(root, 'operator-token'),
    masterKey: join(root, 'master-key'),
    uploads: join(root, 'uploads'),
    outbox: join(root, 'outbox'),
  };
}

/** Creates the data directory and its folders, readable by their owner only (mode 0700). Idempotent. */
export function prepareDataDir(dir: string): DataLayout {
  const layout = dataLayout(dir);
  for (const folder of [layout.dir, layout.organisations, layout.uploads, layout.outbox]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // mkdir leaves the mode of a folder that was there before.
    chmodSync(folder, 0o700);
  }
  return layout;
}
