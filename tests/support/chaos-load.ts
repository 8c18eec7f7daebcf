/**
 * Clients as good SDKs are: each turn has a turn_id of its own, is read to its end, and is sent again unchanged, to another node,
 * after a broken connection, a 503 or a retryable error. Everything they observe goes into a history.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { HANDSHAKE, parseEvents, type StreamedEvent, type TestApp } from './client.ts';
import type { Cluster, ClusterNode } from './cluster.ts';
import { type Attempt, completedEnd, type History, type IntendedTurn } from './history.ts';
import type { Dice } from './seeded.ts';

/** Without time limits of its own: how long to wait for a node that says nothing is the client's decision. */
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 2_000 });

/** Doubling from the first to the last, half of it by chance. */
const BACK_OFF_MS = [20, 400] as const;
/** A turn that is not through after this is not tried again; the checker says so. */
const GIVE_UP_MS = 60_000;
/** While no node takes requests it is looked again this often. */
const NOBODY_UP_MS = 20;
/** A stream that says nothing for this long is left. Longer than a node may take to notice that another one is gone. */
export const SILENCE_MS = 5_000;

export interface Load {
  readonly cluster: Cluster;
  readonly app: TestApp;
  readonly history: History;
  readonly dice: Dice;
  /** Where a copy goes: `avoid` failed it just now. The default is any node that takes requests. */
  readonly route?: (avoid: ClusterNode | undefined) => ClusterNode;
  readonly silenceMs?: number;
  /** Fields of the body beside the message. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another node than the one to avoid where there is one. @throws Error when no node is up. */
function anyNode({ cluster, dice }: Pick<Load, 'cluster' | 'dice'>, avoid: ClusterNode | undefined): ClusterNode {
  const up = cluster.up();
  const others = up.filter((node) => node !== avoid);
  return dice.pick(others.length > 0 ? others : up);
}

/** A node that takes requests, once there is one. */
export async function someNode(load: Pick<Load, 'cluster' | 'dice' | 'route'>, avoid?: ClusterNode): Promise<ClusterNode> {
  while (!load.cluster.nodes.some(({ state }) => state === 'up')) await pause(NOBODY_UP_MS);
  return load.route === undefined ? anyNode(load, avoid) : load.route(avoid);
}

function name(): string {
  return [...randomUUID().replaceAll('-', '')].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('');
}

/** A commit may come this much later than the moment that it writes down. */
const COMMIT_DELAY_MS = 10_000;

export function newDevice(): string {
  return randomUUID().replaceAll('-', '');
}

/** A turn to send, noted in the history. `words`: what is said beside the question. */
export function intendTurn(
  { history }: Pick<Load, 'history'>,
  turn: Pick<IntendedTurn, 'deviceId' | 'conversationId' | 'ordinal'>,
  words = '',
): IntendedTurn {
  const called = name();
  const intended = { ...turn, turnId: randomUUID(), name: called, text: `ask ${called}${words === '' ? '' : ` ${words}`}` };
  history.intend(intended);
  return intended;
}

/** The continuation that brings results of what the turn called, noted in the history. */
export function intendContinuation(
  { history }: Pick<Load, 'history'>,
  before: IntendedTurn,
  conversationId: string,
  toolResults: NonNullable<IntendedTurn['toolResults']>,
): IntendedTurn {
  const intended = { ...before, turnId: randomUUID(), text: '', conversationId, toolResults };
  history.intend(intended);
  return intended;
}

/** Reads whole events out of a stream that comes in pieces. */
async function readStream(body: AsyncIterable<Buffer>, onEvent: (event: StreamedEvent) => void, onBytes: () => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    onBytes();
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf('\n\n') + 2;
    if (end < 2) continue;
    for (const event of parseEvents(rest.slice(0, end))) onEvent(event);
    rest = rest.slice(end);
  }
}

export interface Reader {
  readonly attempt: Attempt;
  /** Settles when the stream is closed, however it closed. Never rejects. */
  readonly closed: Promise<Attempt>;
  leave(): void;
}

export interface Asking {
  readonly node: ClusterNode;
  readonly turn: IntendedTurn;
  readonly copy?: number;
  readonly number?: number;
  readonly via?: 'send' | 'attach';
  readonly onEvent?: (event: StreamedEvent) => void;
}

function requestOf(load: Load, { node, turn, via = 'send' }: Asking) {
  const headers = { 'X-Service-Key': load.app.liveKey, 'X-Service-Device': turn.deviceId, ...load.headers };
  if (via === 'attach') return { url: `${node.baseUrl}/v1/chat/${turn.turnId}`, method: 'GET', headers } as const;
  const conversation = turn.conversationId === null ? {} : { conversation_id: turn.conversationId };
  const said = turn.toolResults === undefined ? { message: { text: turn.text } } : { tool_results: turn.toolResults };
  const body = JSON.stringify({ turn_id: turn.turnId, client: HANDSHAKE, ...said, ...conversation, ...load.more });
  return { url: `${node.baseUrl}/v1/chat`, method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body } as const;
}

/** Sends one request for the turn and reads what comes. */
export function openReader(load: Load, asking: Asking): Reader {
  const { node, turn, copy = 0, number = 1, via = 'send', onEvent = () => {} } = asking;
  const attempt: Attempt = {
    turnId: turn.turnId,
    copy,
    number,
    node: node.name,
    via,
    sentAtMs: performance.now(),
    status: null,
    refusal: null,
    seen: [],
    closing: 'open',
    closedAtMs: Number.POSITIVE_INFINITY,
    error: null,
  };
  load.history.attempt(attempt);
  const leaving = new AbortController();
  const silence = setTimeout(() => leaving.abort(), load.silenceMs ?? SILENCE_MS);
  const work = async () => {
    const { url, ...sent } = requestOf(load, asking);
    const answer = await request(url, { ...sent, dispatcher: agent, signal: leaving.signal });
    attempt.status = answer.statusCode;
    if (!String(answer.headers['content-type']).startsWith('text/event-stream')) {
      attempt.refusal = /"code":"(\w+)"/.exec(await answer.body.text())?.[1] ?? 'unreadable';
      return;
    }
    const note = (event: StreamedEvent) => {
      attempt.seen.push({ atMs: performance.now(), event });
      onEvent(event);
    };
    await readStream(answer.body, note, () => silence.refresh());
  };
  const closed = work()
    .then(
      () => {
        attempt.closing = 'ended';
      },
      (error: Error & { code?: string }) => {
        attempt.closing = leaving.signal.aborted ? 'silent' : 'broken';
        attempt.error = error.code ?? error.message;
      },
    )
    .then(() => {
      clearTimeout(silence);
      attempt.closedAtMs = performance.now();
      return attempt;
    });
  return { attempt, closed, leave: () => leaving.abort() };
}

/** Whether a good client sends the turn again. */
function mayRetry(attempt: Attempt): boolean {
  if (attempt.closing !== 'ended') return true;
  if (attempt.status === 503) return true;
  return attempt.seen.some(({ event }) => event.type === 'error' && event.retryable === true);
}

export interface Sending {
  readonly copy?: number;
  /** Number of the first try; more when somebody else made those before. */
  readonly from?: number;
  /** Where the first try goes. */
  readonly first?: ClusterNode;
  readonly avoid?: ClusterNode;
  readonly onEvent?: (event: StreamedEvent) => void;
}

/** Sends one copy of the turn until it is answered; undefined when it never was. */
export async function sendTurn(load: Load, turn: IntendedTurn, sending: Sending = {}): Promise<Attempt | undefined> {
  const { copy = 0, from = 1, onEvent } = sending;
  const endMs = performance.now() + GIVE_UP_MS;
  let node = sending.first ?? (await someNode(load, sending.avoid));
  let [backOffMs] = BACK_OFF_MS as readonly [number, number];
  for (let number = from; ; number++) {
    const asking = { node, turn, copy, number, ...(onEvent === undefined ? {} : { onEvent }) };
    const attempt = await openReader(load, asking).closed;
    if (completedEnd(attempt) !== undefined) return attempt;
    if (!mayRetry(attempt) || performance.now() > endMs) return undefined;
    await pause(backOffMs / 2 + load.dice.below(backOffMs / 2));
    backOffMs = Math.min(2 * backOffMs, BACK_OFF_MS[1]);
    node = await someNode(load, node);
  }
}

export function conversationOf(attempt: Attempt): string | null {
  const start = attempt.seen.find(({ event }) => event.type === 'turn.start')?.event;
  return start === undefined ? null : String(start.conversation_id);
}

export interface Talk {
  /** Copies of each turn, sent at the same moment. */
  readonly copies?: number;
  readonly turnsPerConversation: number;
  /** Asked before each turn; false ends the talk. */
  readonly more: () => boolean;
  /** A new one by default. */
  readonly deviceId?: string;
}

/** One device that says one thing after another, and begins a new conversation now and then. */
export async function talk(load: Load, { copies = 1, turnsPerConversation, more, deviceId = newDevice() }: Talk): Promise<void> {
  let conversationId: string | null = null;
  let ordinal = 1;
  while (more()) {
    const turn = intendTurn(load, { deviceId, conversationId, ordinal });
    const answers = await Promise.all(Array.from({ length: copies }, (_, copy) => sendTurn(load, turn, { copy })));
    const answered = answers.find((attempt) => attempt !== undefined);
    const goesOn = answered !== undefined && ordinal < turnsPerConversation;
    conversationId = goesOn ? conversationOf(answered) : null;
    ordinal = goesOn ? ordinal + 1 : 1;
  }
}

/** Watches whose each conversation is, as rows say it. Returns a function that stops it. */
export function watchEpochs({ cluster, app, history }: Pick<Load, 'cluster' | 'app' | 'history'>, everyMs = 100): () => void {
  const statement = cluster
    .rows(app.organisationId)
    .prepare('SELECT id, epoch, owner, updated_at_ms FROM conversations WHERE updated_at_ms >= ? ORDER BY updated_at_ms');
  let sinceMs = 0;
  const look = () => {
    for (const row of statement.all(sinceMs - COMMIT_DELAY_MS) as { id: string; epoch: number; owner: string; updated_at_ms: number }[]) {
      history.sample({ conversationId: row.id, epoch: row.epoch, owner: row.owner });
      sinceMs = row.updated_at_ms;
    }
  };
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
  };
}
