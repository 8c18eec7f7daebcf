/**
 * The limit of C1: uWebSockets that answers one path with bytes it is given, and looks at nothing but `If-None-Match`.
 * Started with `--port P`; `BENCH_ANSWER` is the `ConfigAnswer` as JSON.
 */
import { uWS } from '../../../gateway/http/driver.ts';
import { CONFIG_PATH, type ConfigAnswer } from './config-client.ts';

function serve(port: number, { etag, headers, body }: ConfigAnswer): void {
  uWS
    .App()
    .get('/healthz', (res) => {
      res.end('ok');
    })
    .get(CONFIG_PATH, (res, req) => {
      const isUnchanged = req.getHeader('if-none-match') === etag;
      res.cork(() => {
        res.writeStatus(isUnchanged ? '304 Not Modified' : '200 OK');
        for (const [name, value] of headers[isUnchanged ? 304 : 200]) res.writeHeader(name, value);
        if (isUnchanged) res.endWithoutBody();
        else res.end(body);
      });
    })
    .listen('127.0.0.1', port, (socket) => {
      if (socket) return;
      process.stderr.write(`bench bare answers: port ${port} is taken\n`);
      process.exit(1);
    });
}

serve(Number(process.argv[process.argv.indexOf('--port') + 1]), JSON.parse(process.env.BENCH_ANSWER ?? '') as ConfigAnswer);
