/** One cell among others (CELL-1): its directory, its client for the other cells, and the map that they share. */
import type { Logger } from 'pino';
import type { Storage } from '../../storage/storage.ts';
import { CellClient } from './cell-client.ts';
import { CellMap, type CellSelf, type MapRedis } from './cell-map.ts';
import { CellDirectory } from './directory.ts';

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

export class Cells {
  readonly self: { readonly id: string; readonly url: string };
  readonly directory: CellDirectory;
  readonly client: CellClient;
  readonly map: CellMap;

  constructor(options: CellsOptions) {
    const { self, storage, nowMs } = options;
    this.self = self;
    this.client = new CellClient(storage);
    this.directory = new CellDirectory({ self: self.id, storage, client: this.client, nowMs });
    this.map = new CellMap(options);
  }

  async close(): Promise<void> {
    await this.map.close();
    this.client.close();
  }
}
