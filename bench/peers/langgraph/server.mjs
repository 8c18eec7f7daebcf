/** LangGraph's API server in one process, state in memory, with as many runs at a time as there will be streams. */
import { join } from 'node:path';
import { startServer } from '@langchain/langgraph-api/server';

const RUNS_AT_A_TIME = 10;

await startServer({
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  cwd: process.env.DATA_DIR,
  graphs: { agent: `${join(import.meta.dirname, 'agent.mjs')}:graph` },
  nWorkers: Math.max(RUNS_AT_A_TIME, Number(process.env.STREAMS)),
});
