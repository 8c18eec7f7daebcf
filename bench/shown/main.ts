/**
 * `npm run shown`: writes what the model is shown in each scenario, bench/out/shown.html for people and bench/shown/shown.txt for reviews.
 * With OPENAI_BASE_URL the model there (MODEL, OPENAI_API_KEY) answers every scenario, three times or as often as the argument says, and
 * what came of it is bench/out/shown-live.md. With `--answers FILE` in its place answers play that somebody wrote from the page alone, such
 * as bench/shown/answers.jsonl.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveUpstream, upstreamEnv } from '../../tests/support/upstream.ts';
import { projectDir } from '../load/compile.ts';
import { startServer } from '../servers/service.ts';
import { answersOf, type Heard, type Judged, judge, liveReport, recorded, relay } from './live.ts';
import { shownPage, shownText } from './pages.ts';
import { type Played, Stage } from './play.ts';
import { SCENARIOS } from './scenarios.ts';

const OPERATOR_TOKEN = 'operator-token-of-the-kettle-shop';
const TIMES = 3;
const TIMES_MAX = 100;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { answers: { type: 'string' } }, allowPositionals: true });
  const written = values.answers === undefined ? undefined : answersOf(readFileSync(values.answers, 'utf8'));
  const times = written === undefined ? Number(positionals[0] ?? TIMES) : 1;
  if (!Number.isInteger(times) || times < 1 || times > TIMES_MAX)
    throw new Error(`how often each is asked is a number from 1 to ${TIMES_MAX}`);
  const { OPENAI_BASE_URL: url, OPENAI_API_KEY: key = '', MODEL: model = 'gpt-4o-mini' } = process.env;
  const out = join(projectDir(), 'bench', 'out');
  mkdirSync(out, { recursive: true });
  const stage = new Stage();
  const upstream = await serveUpstream(stage.script);
  const server = await startServer(out, { ...upstreamEnv(upstream), DEMO: 'off', OPERATOR_TOKEN });
  const at = { baseUrl: server.origin, operatorToken: OPERATOR_TOKEN };
  try {
    const played: Played[] = [];
    for (const scenario of SCENARIOS) played.push(await stage.play(at, scenario));
    writeFileSync(join(out, 'shown.html'), await shownPage(played));
    writeFileSync(join(projectDir(), 'bench', 'shown', 'shown.txt'), await shownText(played));
    console.log(`${played.length} scenarios: bench/out/shown.html for people, bench/shown/shown.txt for reviews.`);
    const answering = (name: string, heard: Heard[]) =>
      written !== undefined ? recorded(written, name, heard) : url === undefined ? undefined : relay({ url, key, model }, heard);
    if (written === undefined && url === undefined) return;
    const answers: Judged[] = [];
    for (const scenario of Array.from({ length: times }, () => SCENARIOS).flat()) {
      const heard: Heard[] = [];
      const { requests } = await stage.play(at, scenario, answering(scenario.name, heard));
      answers.push(judge(scenario, requests, heard));
    }
    const report = liveReport(answers, written === undefined ? model : 'whoever wrote them');
    writeFileSync(join(out, 'shown-live.md'), `${report}\n`);
    console.log(report);
  } finally {
    await server.stop();
    await upstream.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
