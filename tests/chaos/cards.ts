/** Many people's answers to one card, over all nodes, at the moment when its time is up. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { conversationOf, intendTurn, newDevice, sendTurn } from '../support/chaos-load.ts';
import { type Answer, createClient, HANDSHAKE } from '../support/client.ts';
import { eventsOf } from '../support/history.ts';
import { ASKS_FOR_CARD, CARD_ACTION } from '../support/paced-model.ts';
import { assertClean, begin, figures, type Ground, type Run } from './figures.ts';

/** The least that an app may set. */
const TTL_S = 30;
/** Answers come from so long before the end of the time until so long after it. */
const AROUND_MS = 60;
/** Between the ends of two cards' times: one race is over when the next begins. */
const APART_MS = 400;
/** Time to get the answers on their way. */
const SOON_MS = 400;
const BUSY_TIMEOUT_MS = 10_000;

const MANIFEST = {
  version: '1',
  actions: [
    {
      name: CARD_ACTION,
      description: 'Moves a delivery.',
      risk: 'write',
      confirm_template: 'Move the delivery?',
    },
  ],
};

interface Card {
  readonly invocationId: string;
  readonly deviceId: string;
  readonly conversationId: string;
  readonly expiresAtMs: number;
}

export interface CardsSize {
  readonly cards: number;
  /** Answers to each card. */
  readonly callers: number;
}

async function askCard(run: Run, more: Readonly<Record<string, unknown>>): Promise<Card> {
  const deviceId = newDevice();
  const answered = await sendTurn({ ...run, more }, intendTurn(run, { deviceId, conversationId: null, ordinal: 1 }, ASKS_FOR_CARD));
  assert.ok(answered !== undefined);
  const events = eventsOf(answered);
  const pending = events.at(-1)?.pending as { invocation_id: string }[] | undefined;
  const block = events.find(({ type }) => type === 'block.ready')?.block as { body: { expires_at?: string } } | undefined;
  assert.ok(pending?.[0] !== undefined && block?.body.expires_at !== undefined, JSON.stringify(events));
  const expiresAtMs = Date.parse(block.body.expires_at);
  return { invocationId: pending[0].invocation_id, deviceId, conversationId: conversationOf(answered) ?? '', expiresAtMs };
}

/** Nobody waits for half a minute where other tests wait too: the row's end is brought near. */
function broughtNear({ cluster, app }: Run, card: Card): Card {
  const db = new Database(join(cluster.dataDir, 'organisations', `${app.organisationId}.sqlite`), { timeout: BUSY_TIMEOUT_MS });
  const expiresAtMs = Date.now() + SOON_MS;
  db.prepare('UPDATE invocations SET expires_at_ms = ? WHERE id = ?').run(expiresAtMs, card.invocationId);
  db.close();
  return { ...card, expiresAtMs };
}

async function answer(run: Run, card: Card, n: number): Promise<Answer> {
  const nodes = run.cluster.up();
  const client = createClient(nodes[n % nodes.length]?.baseUrl ?? '', run.app.liveKey, card.deviceId);
  const decision = run.dice.below(2) === 0 ? 'confirm' : 'decline';
  await pause(Math.max(0, card.expiresAtMs + run.dice.between(-AROUND_MS, AROUND_MS) - Date.now()));
  return client.send('POST', `/v1/invocations/${card.invocationId}/confirm`, { decision });
}

/** What all who answered are told. */
async function race(run: Run, card: Card, callers: number): Promise<string> {
  const answers = await Promise.all(Array.from({ length: callers }, (_, n) => answer(run, card, n)));
  const told = answers.map(({ status, json }) => ({
    status,
    ...(json as { status?: string; already_answered?: boolean; receipt?: string }),
  }));
  const texts = answers.map(({ status, text }) => `${status} ${text}`).join('\n');
  assert.ok(
    answers.every(({ status }) => status === 200),
    texts,
  );
  const statuses = [...new Set(answers.map(({ json }) => (json as { status: string }).status))];
  assert.equal(statuses.length, 1, `everybody is told the same: ${texts}`);
  const first = told.filter(({ already_answered }) => already_answered !== true).length;
  // None when the clock of a node was first.
  assert.ok(first <= 1, `${first} were told that theirs is the answer: ${texts}`);
  for (let n = 0; n < run.cluster.up().length; n++) {
    const late = (await answer(run, card, n)).json as { status: string; already_answered: boolean };
    assert.deepEqual([late.status, late.already_answered], [statuses[0], true], 'late ones on every node are told the same');
  }
  const row = run.cluster.rows(run.app.organisationId).prepare('SELECT state FROM invocations WHERE id = ?').get(card.invocationId);
  assert.equal((row as { state: string }).state, statuses[0]);
  return statuses[0] ?? '';
}

async function begun(ground: Ground): Promise<{ run: Awaited<ReturnType<typeof begin>>; manifestHash: string }> {
  const run = await begin(ground, { confirmation_ttl_s: TTL_S });
  const client = createClient(run.cluster.up()[0]?.baseUrl ?? '', run.app.liveKey);
  return { run, manifestHash: await client.register(MANIFEST) };
}

/** One terminal answer, whichever nodes are asked. */
export async function answerAtExpiry(ground: Ground, { cards, callers }: CardsSize): Promise<void> {
  const { run, manifestHash } = await begun(ground);
  const races: Promise<string>[] = [];
  for (let n = 0; n < cards; n++) {
    if (n > 0) await pause(APART_MS);
    const card = await askCard(run, { client: { ...HANDSHAKE, manifest_hash: manifestHash } });
    races.push(race(run, run.timed ? card : broughtNear(run, card), callers));
  }
  const outcomes = new Map<string, number>();
  for (const status of await Promise.all(races)) outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
  await assertClean(run);
  const shown = [...outcomes].map(([status, count]) => `${status} ${count}`).join(', ');
  figures(run, 'h', `${cards} cards, ${callers} answers each, one terminal answer: ${shown}`);
}
