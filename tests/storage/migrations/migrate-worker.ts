/** A process that migrates the file named by its argument as soon as it is told to, for the race in migrate.test.ts. */
import { once } from 'node:events';
import { migrate } from '../../../storage/migrations/migrate.ts';
import { openWriter } from '../../../storage/sqlite/database.ts';

const [path = ''] = process.argv.slice(2);
process.stdout.write('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
const connection = openWriter(path);
migrate(
  connection,
  [
    { version: 1, name: 'first', sql: 'CREATE TABLE steps (version INTEGER NOT NULL) STRICT; INSERT INTO steps VALUES (1);' },
    { version: 2, name: 'second', sql: 'INSERT INTO steps VALUES (2);' },
    { version: 3, name: 'third', sql: 'INSERT INTO steps VALUES (3);' },
  ],
  'organisation',
);
connection.close();
