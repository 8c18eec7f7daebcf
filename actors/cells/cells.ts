/** One cell among others (CELL-1): its directory, its client for the other cells, and the map that they share. */
import type { Storage } from '../../storage/storage.ts';
import { CellClient } from './cell-client.ts';
import { CellMap, type CellMapOptions } from './cell-map.ts';
import { CellDirectory } from './directory.ts';

export class Cells {
  readonly self: { readonly id: string; readonly url: string };
  readonly directory: CellDirectory;
  readonly client: CellClient;
  readonly map: CellMap;

  constructor(options: CellMapOptions & { readonly storage: Storage }) {
    const { self, storage, nowMs } = options;
    this.self = self;
    this.client = new CellClient(self.id, storage, { nowMs });
    const map = new CellMap(options);
    const homes = { find: map.homes.find.bind(map.homes), covers: map.covers.bind(map) };
    this.directory = new CellDirectory({ self: self.id, storage, client: this.client, homes, nowMs });
    this.map = map;
  }

  async close(): Promise<void> {
    await this.map.close();
    this.client.close();
  }
}
