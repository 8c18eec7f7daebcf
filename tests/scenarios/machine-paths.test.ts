/**
 * The ways through the machine, generated from its definition, replayed against the running
 * program. The model does what the way says; what the stream says must be what the machine says.
 *
 * Left out is what no client and no upstream can bring about: `turn.interrupted` (a process that ends), a failure that
 * may not be retried (every failure of an upstream may), and events within `working`, which the service leaves in the
 * same step in which it entered it.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { nothingSaid } from '../../actors/turns/events.ts';
import { asksAgain, type ChatTurnEvent, chatTurn, type Waiting } from '../../machines/chat-turn.ts';
import { stepper } from '../../machines/step.ts';
import { chatTurnPaths } from '../machines/paths.ts';
import { type Client, createClient, createTestApp, HANDSHAKE, type StreamedEvent } from '../support/client.ts';
import { follow } from '../support/partial.ts';
import { startService } from '../support/service.ts';
import { type Play, startUpstream, upstreamEnv } from '../support/upstream.ts';

const CLIENTS = 8;
/** A text block is cut here (MODEL-10). */
const BLOCK_CHARS = 8_000;
const MANIFEST = {
  version: '1',
  actions: [
    { name: 'look_up', description: 'Looks something up.', risk: 'read', params: {} },
    { name: 'change_it', description: 'Changes something.', risk: 'write', params: {}, confirm_template: 'Change it?' },
  ],
};

/** What the model does in one round, and what the person does meanwhile. */
interface Round {
  readonly plays: readonly Play[];
  readonly stops: boolean;
  /** Blocks of the attempt that have begun when this round has said all it says. */
  readonly begun: number;
}

/** One stream of a turn: what is played in it, and what is to be seen of it. */
interface Attempt {
  readonly rounds: Round[];
  readonly expected: { blocks: number; executions: number; error: string | null; status: string; stopped: boolean };
}

interface Way {
  readonly opening: Waiting;
  readonly attempts: Attempt[];
  readonly resumed: boolean;
}

function calls({ reads, confirmations }: Waiting, serverCalls: number): Play[] {
  const names = [
    ...Array<string>(serverCalls).fill('no_such_tool'),
    ...Array<string>(reads).fill('look_up'),
    ...Array<string>(confirmations).fill('change_it'),
  ];
  return names.map((call, n) => ({ call, args: {}, id: `call_${n}` }));
}

function words(blocks: number): Play[] {
  return blocks === 0 ? [] : [{ text: 'x'.repeat((blocks - 1) * BLOCK_CHARS + 1) }];
}

/** States a way passes through, with the events that leave them. */
function transitions(path: readonly ChatTurnEvent[]): { key: string; state: string; round: number; event: ChatTurnEvent }[] {
  const machine = stepper(chatTurn);
  return path.map((event) => {
    const { state } = machine;
    const { round, attempt } = machine.snapshot.context;
    machine.send(event);
    return { key: JSON.stringify([state, Math.min(attempt, 2), round, event]), state, round, event };
  });
}

function canBeProvoked({ state, round, event }: { state: string; round: number; event: ChatTurnEvent }): boolean {
  if (event.type === 'turn.interrupted') return false;
  // Needs a server of the app's own: tests of HTTP actions go this way.
  if ((event.type === 'turn.open' && event.serverCalls > 0) || (state === 'working' && round === 0)) return false;
  if (event.type === 'round.failed' && !event.failure.retryable) return false;
  return state !== 'working' || event.type === 'calls.settled';
}

/** What the actor makes of the last event of an attempt in which nothing was said: a failed round. */
function asTold(event: ChatTurnEvent, machine: ReturnType<typeof stepper<typeof chatTurn>>, blocks: number): ChatTurnEvent {
  const { context } = machine.snapshot;
  const waits = ({ reads, confirmations }: Waiting) => reads + confirmations > 0;
  const isLast =
    event.type === 'round.finished'
      ? event.serverCalls === 0 && !waits(event.waiting)
      : event.type === 'calls.settled' && !asksAgain(context) && !waits(context.waiting);
  return isLast && blocks === 0 ? { type: 'round.failed', failure: nothingSaid('stop') } : event;
}

/** Translates a way into what the model plays, and lets the machine say what must be seen. */
function wayOf(path: readonly ChatTurnEvent[]): Way {
  const machine = stepper(chatTurn);
  const attempts: Attempt[] = [];
  let opening: Waiting = { reads: 0, confirmations: 0 };
  let attempt: Attempt | undefined;
  let said = 0;
  let resumed = false;
  for (const event of path) {
    if (event.type === 'turn.open' || event.type === 'turn.retry') {
      attempt = { rounds: [], expected: { blocks: 0, executions: 0, error: null, status: '', stopped: false } };
      attempts.push(attempt);
      said = 0;
    }
    assert.ok(attempt);
    const { expected, rounds } = attempt;
    const play = (plays: readonly Play[], stops = false) => {
      rounds.push({ plays: [...words(said), ...plays], stops, begun: expected.blocks });
      said = 0;
    };
    if (event.type === 'turn.open') opening = event.waiting;
    if (event.type === 'block.completed') said += 1;
    if (event.type === 'round.finished') play(calls(event.waiting, event.serverCalls));
    if (event.type === 'round.failed') play(expected.blocks === 0 ? [{ status: 503 }] : [{ reset: true }]);
    if (event.type === 'turn.stop') play([{ wait: new Promise(() => {}) }], true);
    if (event.type === 'turn.resumed') resumed = true;
    const told = asTold(event, machine, expected.blocks);
    for (const effect of machine.send(told).effects) {
      if (effect.type === 'sendBlock') expected.blocks += 1;
      if (effect.type === 'executeActions') expected.executions = machine.snapshot.context.waiting.reads;
      // Busy is for what fails before any output (MODEL-16).
      if (effect.type === 'sendError') expected.error = expected.blocks === 0 && told === event ? 'model_busy' : 'internal';
      if (effect.type === 'endTurn') {
        expected.status = effect.status;
        expected.stopped = effect.stopped;
      }
    }
  }
  return { opening, attempts, resumed };
}

interface Pending {
  readonly invocation_id: string;
  readonly risk: string;
}

function answerTo({ invocation_id, risk }: Pending) {
  return risk === 'read' ? { invocation_id, status: 'ok', result: {} } : { invocation_id, status: 'declined', confirmed: false };
}

function pendingOf(events: readonly StreamedEvent[]): Pending[] {
  return (events.at(-1)?.pending ?? []) as Pending[];
}

function seen(events: readonly StreamedEvent[]): Attempt['expected'] {
  const of = (type: string) => events.filter((event) => event.type === type);
  const end = events.at(-1);
  return {
    blocks: of('block.ready').length,
    executions: of('action.execute').length,
    error: (of('error')[0]?.code as string | undefined) ?? null,
    status: String(end?.status),
    stopped: end?.stopped === true,
  };
}

/** Rounds to play next, by the name that the person's message carries; `reached` is called when one has begun. */
class Scripts {
  readonly #rounds = new Map<string, Round[]>();
  readonly #reached = new Map<string, (round: Round) => void>();

  set(name: string, rounds: readonly Round[], reached: (round: Round) => void = () => {}): void {
    this.#rounds.set(name, [...rounds]);
    this.#reached.set(name, reached);
  }

  next(text: string): readonly Play[] {
    const name = /way-\d+\./.exec(text)?.[0] ?? '';
    const round = this.#rounds.get(name)?.shift();
    if (round === undefined) return [{ status: 400 }];
    this.#reached.get(name)?.(round);
    return round.plays;
  }

  left(name: string): number {
    return this.#rounds.get(name)?.length ?? 0;
  }
}

class Replay {
  readonly #client: Client;
  readonly #key: string;
  readonly #scripts: Scripts;
  readonly #handshake: unknown;
  readonly #name: string;

  constructor(client: Client, key: string, scripts: Scripts, manifestHash: string, name: string) {
    this.#client = client;
    this.#key = key;
    this.#scripts = scripts;
    // Without cards: only what the model says itself is a block here.
    this.#handshake = { ...HANDSHAKE, components: ['text'], manifest_hash: manifestHash };
    this.#name = name;
  }

  async #send(rounds: readonly Round[], body: Record<string, unknown>): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    let current: Round | undefined;
    let stopping: Promise<unknown> | undefined;
    const stopWhenDue = () => {
      // The model may be asked before the turn is stored, and a turn can be stopped from then on (CHAT-22).
      if (current?.stops !== true || events.length === 0) return;
      const begun = events.filter((event) => event.type === 'block.start').length;
      if (begun < current.begun) return;
      stopping ??= this.#client.send('POST', `/v1/chat/${body.turn_id}/stop`);
    };
    this.#scripts.set(this.#name, rounds, (round) => {
      current = round;
      stopWhenDue();
    });
    const ended = await follow(this.#client.baseUrl, this.#key, { client: this.#handshake, ...body }, (event) => {
      events.push(event);
      stopWhenDue();
    });
    await stopping;
    assert.ok(ended, `${this.#name} broke off`);
    return events;
  }

  /** A turn whose round leaves one call more than the way begins with, and the answer to that one. */
  async #leftOpen({ reads, confirmations }: Waiting): Promise<Record<string, unknown>> {
    const round: Round = { plays: calls({ reads: reads + 1, confirmations }, 0), stops: false, begun: 0 };
    const events = await this.#send([round], { turn_id: randomUUID(), message: { text: this.#name } });
    const answered = pendingOf(events).find(({ risk }) => risk === 'read');
    assert.ok(answered, 'a read waits');
    return { conversation_id: events[0]?.conversation_id, tool_results: [answerTo(answered)] };
  }

  async run({ opening, attempts, resumed }: Way): Promise<void> {
    const continues = opening.reads > 0 || opening.confirmations > 0;
    const body = { turn_id: randomUUID(), ...(continues ? await this.#leftOpen(opening) : { message: { text: this.#name } }) };
    let events: StreamedEvent[] = [];
    for (const [n, { rounds, expected }] of attempts.entries()) {
      events = await this.#send(rounds, body);
      assert.equal(events[0]?.type, 'turn.start');
      assert.deepEqual(seen(events), expected, `${this.#name} attempt ${n + 1}`);
      assert.equal(this.#scripts.left(this.#name), 0, `${this.#name} attempt ${n + 1}: the model was asked as often as the way says`);
    }
    if (!resumed) return;
    const goOn = {
      turn_id: randomUUID(),
      conversation_id: events[0]?.conversation_id,
      tool_results: pendingOf(events).map(answerTo),
    };
    const last = await this.#send([{ plays: words(1), stops: false, begun: 0 }], goOn);
    assert.equal(last.at(-1)?.status, 'completed', `${this.#name} continued`);
  }
}

test('HOUSE-6: generated ways, replayed against the running service, show the statuses and errors that the machine says', async (t) => {
  // Worked out first: it takes seconds on a busy machine, and a connection that waits for so long is closed.
  const all = chatTurnPaths();
  const paths = all.filter((path) => transitions(path).every(canBeProvoked));
  const keysOf = (some: typeof all) =>
    new Set(
      some
        .flatMap(transitions)
        .filter(canBeProvoked)
        .map(({ key }) => key),
    );
  const missed = [...keysOf(all)].filter((key) => !keysOf(paths).has(key));
  assert.deepEqual(missed, [], 'every transition that can be provoked is on a way that can be');

  const scripts = new Scripts();
  const upstream = await startUpstream(t, ({ messages }) => {
    return scripts.next(messages.findLast(({ role, content }) => role === 'user' && /way-\d+\./.test(content))?.content ?? '');
  });
  const service = await startService(t, { env: { ...upstreamEnv(upstream), DEMO: 'off', LOG_LEVEL: 'fatal' } });
  const app = await createTestApp(service.baseUrl, service.operatorToken);
  const client = createClient(service.baseUrl, app.liveKey);
  const manifestHash = await client.register(MANIFEST);

  const queue = paths.map((path, n) => ({ path, name: `way-${n}.` }));
  const failures: string[] = [];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { path, name } = next;
      await new Replay(client, app.liveKey, scripts, manifestHash, name).run(wayOf(path)).catch((error: Error) => {
        failures.push(`${path.map((event) => JSON.stringify(event)).join(' → ')}\n${error.message}`);
      });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  assert.equal(failures.length, 0, `${failures.length} of ${paths.length} ways differ; the first:\n${failures.slice(0, 3).join('\n\n')}`);
  t.diagnostic(`${paths.length} of ${all.length} ways replayed`);
});
