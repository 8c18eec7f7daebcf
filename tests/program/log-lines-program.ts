/** Logs without end until its standard input ends, and then ends itself as the service does; started by program/log-lines.test.ts. */
import pino from 'pino';
import { LogLines } from '../../program/log-lines.ts';

const log = pino({ base: null }, new LogLines(2));
const timer = setInterval(() => log.info({ words: 'a line '.repeat(20) }, 'more'), 1);
process.stdin.on('data', () => {});
process.stdin.on('end', () => {
  clearInterval(timer);
  for (let n = 0; n < 100; n++) log.info({ n }, 'last');
  log.flush(() => process.exit(0));
});
