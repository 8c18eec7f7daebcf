/** What people do in a soak beside the visits of the load tester: stop, leave and come back, send files, look at the console, set an app up. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, createOperator, HANDSHAKE } from '../../tests/support/client.ts';
import type { Dice } from '../../tests/support/seeded.ts';
import { agentOf, openSession } from '../../tests/support/setup-agent.ts';
import { SETUP_WORK } from '../../tests/support/setup-work.ts';
import { OPERATOR_TOKEN } from '../drill/host.ts';
import { AT_LENGTH } from '../drill/site.ts';
import type { World } from './world.ts';

const PAUSE_MS = 700;
/** A node that was killed breaks its connections; whoever is silent for longer is left. */
const REQUEST_MAX_MS = 60_000;

interface Person {
  readonly url: string;
  readonly key: string;
  readonly device: string;
}

const headersOf = ({ key, device }: Person) => ({ 'X-Service-Key': key, 'X-Service-Device': device });

function ask(person: Person, method: string, path: string, body?: object): Promise<Response> {
  const headers = { ...headersOf(person), ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  const signal = AbortSignal.timeout(REQUEST_MAX_MS);
  return fetch(`${person.url}${path}`, { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

/** Sends a message and reads until its turn has begun. */
async function begin(person: Person, turnId: string) {
  const body = { turn_id: turnId, client: HANDSHAKE, message: { text: AT_LENGTH } };
  const reader = (await ask(person, 'POST', '/v1/chat', body)).body?.getReader();
  for (let said = ''; !said.includes('event: turn.start'); ) {
    const piece = await reader?.read();
    if (piece?.value === undefined) throw new Error(`no turn began: ${said.slice(0, 300)}`);
    said += Buffer.from(piece.value).toString();
  }
  return reader;
}

async function requireEnd(answer: Response): Promise<void> {
  const text = await answer.text();
  if (!text.includes('event: turn.end')) throw new Error(`${answer.status} ${text.slice(-300)}`);
}

const DOINGS: Readonly<Record<string, (world: World, person: Person) => Promise<unknown>>> = {
  async stopped(_, person) {
    const turnId = randomUUID();
    const reader = await begin(person, turnId);
    await (await ask(person, 'POST', `/v1/chat/${turnId}/stop`)).text();
    while ((await reader?.read())?.done === false);
  },
  async attached(_, person) {
    const turnId = randomUUID();
    const reader = await begin(person, turnId);
    await reader?.cancel();
    await requireEnd(await ask(person, 'GET', `/v1/chat/${turnId}`));
  },
  async uploaded(_, person) {
    const form = new FormData();
    form.append('file', new Blob(['Two chairs and a lamp.\n'.repeat(1_000)], { type: 'text/plain' }), 'order.txt');
    const sent = { method: 'POST', headers: headersOf(person), body: form, signal: AbortSignal.timeout(REQUEST_MAX_MS) };
    const { upload_id } = (await (await fetch(`${person.url}/v1/uploads`, sent)).json()) as { upload_id?: string };
    const body = { turn_id: randomUUID(), client: HANDSHAKE, message: { text: 'What did I buy?' }, attachments: [{ upload_id }] };
    await requireEnd(await ask(person, 'POST', '/v1/chat', body));
  },
  async console({ stays }, { url }) {
    const operator = createOperator(url, OPERATOR_TOKEN);
    const { organisationId: org, appId: app } = stays;
    for (const path of [`/orgs/${org}`, `/orgs/${org}/usage`, `/apps/${app}`, `/apps/${app}/conversations`, '/nodes', '/actors']) {
      const { status, text } = await operator('GET', path);
      if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    }
  },
  async 'set up'({ draftAppId }, { url }) {
    const operator = createOperator(url, OPERATOR_TOKEN);
    const { session, code } = await openSession(operator, draftAppId);
    try {
      const agent = await agentOf(url, code);
      // What its smoke test says is not what is measured here.
      for (const { name, run } of SETUP_WORK) await (name === 'smoke' ? agent.send('POST', '/smoke') : run(agent, url));
    } finally {
      await operator('POST', `/sessions/${session.id}/cancel`);
    }
  },
};

export type Done = Readonly<Record<string, { done: number; failed: number; lastWords: string }>>;

/** Each doing again and again, at whichever host, until the signal. What fails while hosts come and go is counted with its last words. */
export function visit(world: World, dice: Dice, until: AbortSignal): { readonly done: Done; readonly ended: Promise<unknown> } {
  const done = Object.fromEntries(Object.keys(DOINGS).map((name) => [name, { done: 0, failed: 0, lastWords: '' }]));
  const ended = Object.entries(DOINGS).map(async ([name, doing]) => {
    const count = done[name] as Done[string];
    while (!until.aborted) {
      const { baseUrl: url } = dice.pick([world.node, world.workers, world.other]);
      const person = { url, key: dice.pick([world.stays, world.moves]).liveKey, device: randomUUID().replaceAll('-', '') };
      await doing(world, person).then(
        () => {
          count.done += 1;
        },
        (error: Error) => {
          count.failed += 1;
          count.lastWords = `${error.message} ${error.cause ?? ''}`.slice(0, 300);
        },
      );
      await pause(PAUSE_MS);
    }
  });
  return { done, ended: Promise.all(ended) };
}

/** Workers may be about to restart at the end, and the second cell about to answer again. */
const SENT_AGAIN_MS = 60_000;

/** What has to work when all is over, at each host. @returns sentences of what does not */
export async function stillServes({ node, workers, other, stays, moves }: World): Promise<string[]> {
  const asked = [node, workers, other].flatMap(({ baseUrl }) => [stays, moves].map(({ liveKey }) => ({ baseUrl, liveKey })));
  const answers = asked.map(async ({ baseUrl, liveKey }) => {
    const client = createClient(baseUrl, liveKey, randomUUID().replaceAll('-', ''));
    for (const endMs = performance.now() + SENT_AGAIN_MS; ; await pause(PAUSE_MS)) {
      const text = await client.say('Where is it?').then((answer) => answer.text, String);
      if (text.includes('"status":"completed"')) return [];
      if (performance.now() > endMs) return [`${baseUrl} does not answer after all: ${text.slice(-300)}`];
    }
  });
  return (await Promise.all(answers)).flat();
}
