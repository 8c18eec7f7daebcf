/** A process of its own that backs up a data directory and prints the report, as an operator's command does beside the service. */
import { backUp } from '../../storage/backup/backup.ts';

const [dataDir = '', target = ''] = process.argv.slice(2);
const log = { info: () => undefined, warn: (_: object, text: string) => void process.stderr.write(`${text}\n`) };
process.stdout.write(JSON.stringify(await backUp({ dataDir, target, log })));
