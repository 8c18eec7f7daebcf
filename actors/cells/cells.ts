/** One cell among others (CELL-1): its directory, its client for the other cells, and the map that they share. */
import type { Logger } from 'pino';
import type { Storage } from '../../storage/storage.ts';
import { type CellClient, createCellClient } from './cell-client.ts';
import { CellMap, type CellSelf, type MapRedis } from './cell-map.ts';
import { CellDirectory } from './directory.ts';

export interface Cells {
  readonly self: { readonly id: string; readonly url: string };
  readonly directory: CellDirectory;
  readonly client: CellClient;
  readonly map: CellMap;
  close(): Promise<void>;
}

export interface CellsOptions {
  readonly self: CellSelf;
  /** Whether this process may say where the cell is: not once another host took it over. */
  mayPublish(): boolean;
  readonly storage: Storage;
  /** A connection that this one may send commands on; closing it is the caller's. */
  readonly redis: MapRedis;
  readonly log: Logger;
  nowMs(): number;
  /** Placements of these organisations changed in the control file. */
  readonly onPlaced?: (organisationIds: readonly string[]) => void;
}

export function createCells({ self, mayPublish, storage, redis, log, nowMs, onPlaced }: CellsOptions): Cells {
  const client = createCellClient({ vault: storage.vault, control: storage.control });
  const directory = new CellDirectory({ self: self.id, storage, client, nowMs });
  const map = new CellMap({ redis, self, mayPublish, storage, log, nowMs, ...(onPlaced === undefined ? {} : { onPlaced }) });
  return {
    self,
    directory,
    client,
    map,
    async close() {
      await map.close();
      client.close();
    },
  };
}
