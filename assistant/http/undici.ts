/** The parts of undici that are used. Its index would load a hundred files more: 3 MB in each process, and a twentieth of a start. */
import { createRequire } from 'node:module';
import type * as undici from 'undici';

export type Connector = undici.buildConnector.connector;

const require = createRequire(import.meta.url);

export const buildConnector = require('undici/lib/core/connect.js') as typeof undici.buildConnector;
export const Client = require('undici/lib/dispatcher/client.js') as typeof undici.Client;
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool;

// As the index does, for both.
Object.assign((require('undici/lib/dispatcher/dispatcher.js') as typeof undici.Dispatcher).prototype, require('undici/lib/api/index.js'));
