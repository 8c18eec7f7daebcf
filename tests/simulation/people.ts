/**
 * People and their clients: each turn has an id of its own and is sent again, to another node, until it is answered. What they see goes into a
 * history; at the moment when a node says something, the rows behind it are looked for on the disk.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Position } from '../../actors/frame-source.ts';
import type { TurnCaller } from '../../actors/turns/command.ts';
import type { Composed } from '../../program/compose.ts';
import { ERROR_TABLE, Refusal } from '../../protocol/errors.ts';
import { chatRequest } from '../../protocol/runtime/chat.ts';
import { readApp } from '../../storage/apps/apps.ts';
import { dataLayout } from '../../storage/data-layout.ts';
import { StorageError } from '../../storage/sqlite/storage-error.ts';
import { HANDSHAKE, parseEvents, type StreamedEvent } from '../support/client.ts';
import { type Attempt, completedEnd, eventsOf, History, type IntendedTurn } from '../support/history.ts';
import { ASKS_FOR_CARD } from '../support/paced-model.ts';
import { dataDirOf, guard } from './disk.ts';
import { faults } from './network.ts';
import { Broken, type SimulatedNode } from './nodes.ts';
import { world } from './world.ts';

/** An app in a cell: what its people write to. */
export interface SimulatedApp {
  readonly cell: string;
  readonly organisationId: string;
  readonly appId: string;
}

/** A turn that is not through after so many tries is given up, and the history shows it. */
const TRIES_MAX = 200;
const PAUSE_MS = [20, 400] as const;
/** A stream that says nothing for so long is left. */
const SILENCE_MS = 2_500;

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
/** Letters only, as the model's questions are named. */
const nameOf = (text: string) => [...hash(text).slice(0, 16)].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('');
const uuidOf = (text: string) => hash(text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

export interface Conversation {
  readonly deviceId: string;
  id: string | null;
  ordinal: number;
  /** What was said last in it is over. */
  line: Promise<void>;
}

export interface Question {
  readonly conversation: number;
  /** How many copies of each request are sent at once. */
  readonly copies: number;
  /** How many questions are asked at once, as from several tabs; absent: one. */
  readonly together?: number;
  /** Undefined: the model is to answer. */
  readonly card?: 'confirm' | 'decline' | 'race' | undefined;
}

/** What a node may say at any time while faults last. One that threw in its transaction is a fault of the program. */
const mayBe = (error: unknown) => error instanceof Broken || (error instanceof StorageError && error.code !== 'failed');

export class People {
  readonly history = new History();
  readonly conversations: Conversation[];
  readonly #app: SimulatedApp;
  readonly #nodes: readonly SimulatedNode[];
  readonly #path: string;
  /** What the first reply to a person’s answer on a card said. */
  readonly answers = new Map<string, string>();
  /** Questions that are not over. */
  waiting = 0;
  readonly broken: string[] = [];
  /** How many events were read. */
  heard = 0;

  constructor(app: SimulatedApp, nodes: readonly SimulatedNode[], conversations: number) {
    this.#app = app;
    this.#nodes = nodes.filter(({ cell }) => cell === app.cell);
    this.#path = dataLayout(dataDirOf(app.cell)).organisation(app.organisationId);
    const device = (n: number) => ({
      deviceId: hash(`device ${app.cell} ${n}`).slice(0, 32),
      id: null,
      ordinal: 0,
      line: Promise.resolve(),
    });
    this.conversations = Array.from({ length: conversations }, (_, n) => device(n));
  }

  get rows() {
    return guard(this.#path);
  }

  /** Asks in its conversation once what was said before is over. */
  ask(question: Question): void {
    const conversation = this.conversations[question.conversation];
    if (conversation === undefined) return;
    this.waiting += 1;
    conversation.line = conversation.line
      .then(() => Promise.all(Array.from({ length: question.together ?? 1 }, () => this.#ask(conversation, question))))
      .then(() => {
        this.waiting -= 1;
      });
  }

  async #ask(conversation: Conversation, { copies, card }: Question): Promise<void> {
    conversation.ordinal += 1;
    const key = `${this.#app.cell} ${conversation.deviceId} ${conversation.ordinal}`;
    const name = nameOf(key);
    const { deviceId, ordinal } = conversation;
    const text = `ask ${name}${card === undefined ? '' : ` ${ASKS_FOR_CARD}`}`;
    const turn: IntendedTurn = { turnId: uuidOf(key), name, text, deviceId, conversationId: conversation.id, ordinal };
    this.history.intend(turn);
    const end = await this.#through(turn, copies);
    const start = end && eventsOf(end).find(({ type }) => type === 'turn.start');
    if (end === undefined) return;
    conversation.id ??= String(start?.conversation_id ?? this.#conversationOf(turn.turnId));
    const [pending] = (eventsOf(end).at(-1)?.pending ?? []) as { invocation_id: string }[];
    if (card === undefined || pending === undefined) return;
    const status = await this.#answer(deviceId, pending.invocation_id, card);
    const results = [
      { invocation_id: pending.invocation_id, ...(status === 'confirmed' ? { status: 'ok', confirmed: true } : { status: 'declined' }) },
    ];
    const next: IntendedTurn = {
      ...turn,
      turnId: uuidOf(`${key} result`),
      text: '',
      conversationId: conversation.id,
      toolResults: results,
    };
    this.history.intend(next);
    await this.#through(next, copies);
  }

  #conversationOf(turnId: string): string {
    const row = this.rows.prepare('SELECT conversation_id AS id FROM turns WHERE turn_id = ?').get(turnId) as { id: string } | undefined;
    return row?.id ?? '';
  }

  #anyNode(): SimulatedNode | undefined {
    const up = this.#nodes.filter(({ isUp }) => isUp);
    return up.length === 0 ? undefined : world.dice.pick(up);
  }

  #pause = () => new Promise<void>((resolve) => void world.after(world.between(PAUSE_MS), null, resolve));

  /** Sends the copies until each is answered. The attempt of the first that is; undefined when it was given up. */
  async #through(turn: IntendedTurn, copies: number): Promise<Attempt | undefined> {
    const ends = await Promise.all(Array.from({ length: copies }, (_, copy) => this.#copy(turn, copy)));
    return ends.find((end) => end !== undefined);
  }

  async #copy(turn: IntendedTurn, copy: number): Promise<Attempt | undefined> {
    for (let number = 1; number <= TRIES_MAX; number++) {
      const node = this.#anyNode();
      if (node !== undefined) {
        const attempt = await this.#try(node, turn, copy, number, number > 1 && world.dice.below(4) === 0 ? 'attach' : 'send');
        if (completedEnd(attempt) !== undefined && attempt.via === 'send') return attempt;
      }
      await this.#pause();
    }
    return undefined;
  }

  #caller(composed: Composed, deviceId: string): TurnCaller {
    const { organisationId, appId } = this.#app;
    const app = readApp(composed.services.storage.organisation(organisationId), appId, organisationId);
    if (app === undefined) throw new Error('the app is gone');
    return { organisationId, appId, app, channel: 'live', deviceId, person: null, address: '127.0.0.1', minuteLeft: null };
  }

  #command(composed: Composed, turn: IntendedTurn) {
    const said = turn.text === '' ? { tool_results: turn.toolResults } : { message: { text: turn.text } };
    const body = v.parse(chatRequest, {
      turn_id: turn.turnId,
      client: HANDSHAKE,
      ...said,
      ...(turn.conversationId === null ? {} : { conversation_id: turn.conversationId }),
    });
    const caller = this.#caller(composed, turn.deviceId);
    return {
      caller,
      person: null,
      userToken: 'person',
      turnId: turn.turnId,
      fingerprint: hash(turn.turnId),
      requestId: turn.turnId,
      purpose: 'person',
      body,
    } as const;
  }

  async #try(node: SimulatedNode, turn: IntendedTurn, copy: number, number: number, via: Attempt['via']): Promise<Attempt> {
    const { name } = node.owner;
    const open = (composed: Composed): Promise<Position> =>
      via === 'send'
        ? composed.actors.openTurn(this.#command(composed, turn))
        : composed.actors.attachTurn(this.#caller(composed, turn.deviceId), turn.turnId);
    const attempt: Attempt = {
      turnId: turn.turnId,
      copy,
      number,
      node: name,
      via,
      sentAtMs: world.nowMs,
      status: null,
      refusal: null,
      seen: [],
      closing: 'open',
      closedAtMs: 0,
      error: null,
    };
    this.history.attempt(attempt);
    world.note(`sends ${turn.name} ${copy}.${number} to ${name} (${via})`);
    let leave = () => {};
    await new Promise<void>((resolve) => {
      const { owner } = node;
      let silence = world.after(SILENCE_MS, null, () => close('silent'));
      const close = (closing: Attempt['closing']) => {
        if (attempt.closing !== 'open') return;
        Object.assign(attempt, { closing, closedAtMs: world.nowMs });
        silence.run = null;
        world.note(
          `${closing} ${turn.name} ${copy}.${number}: ${
            attempt.refusal ??
            eventsOf(attempt)
              .map(({ type }) => type)
              .join(' ')
          }`,
        );
        world.after(0, owner, () => leave());
        resolve();
      };
      const hear = (events: readonly StreamedEvent[], ended: boolean) => {
        if (attempt.closing !== 'open') return;
        silence.run = null;
        silence = world.after(SILENCE_MS, null, () => close('silent'));
        attempt.status = 200;
        for (const event of events) attempt.seen.push({ atMs: world.nowMs, event });
        if (ended) close('ended');
        // A client's connection may break at any time.
        else if (faults.unheard > 0 && world.dice.below(100) < faults.unheard) close('broken');
      };
      owner.atEnd.push(() => world.after(1, null, () => close('broken')));
      node
        .call(async (composed) => {
          const { source, fromSeq } = await open(composed);
          let next = fromSeq;
          let lastMs = world.nowMs;
          const read = () => {
            for (;;) {
              const slice = source.read(next, 4_000);
              const events = slice.text === '' ? [] : parseEvents(slice.text);
              for (const event of events) this.#mustBeStored(turn, event, name);
              next = slice.nextSeq;
              if (slice.text === '' && !slice.ended) return;
              lastMs = Math.max(lastMs, world.nowMs + world.between([0.05, 2]));
              world.after(lastMs - world.nowMs, null, () => hear(events, slice.ended));
              if (slice.ended) {
                leave();
                return;
              }
            }
          };
          leave = source.subscribe(() => world.as(owner, read));
          world.soon(owner, read);
        })
        .catch((error: unknown) => {
          if (error instanceof Broken) close('broken');
          else this.#refused(attempt, error, close);
        });
    });
    return attempt;
  }

  #refused(attempt: Attempt, error: unknown, close: (closing: Attempt['closing']) => void): void {
    if (error instanceof Refusal) {
      attempt.refusal = error.code;
      // What was never opened cannot be attached to. Of what was stopped while it waited nothing is stored, and it is asked again.
      const isAgain = ERROR_TABLE[error.code].retryable || error.stopped || attempt.via === 'attach';
      attempt.status = isAgain ? 503 : error.status;
    } else if (mayBe(error)) Object.assign(attempt, { refusal: (error as StorageError).code, status: 503 });
    else {
      attempt.status = 500;
      attempt.refusal = String(error);
      this.broken.push(`a request failed: ${error instanceof Error ? error.stack : error}`);
    }
    close('ended');
  }

  /** What is said now has been committed. */
  #mustBeStored(turn: IntendedTurn, event: StreamedEvent, node: string): void {
    this.heard += 1;
    const has = (sql: string, ...values: unknown[]) => this.rows.prepare(sql).get(...values) !== undefined;
    const isStored =
      event.type === 'turn.start'
        ? has(
            'SELECT 1 FROM turns t JOIN messages m ON m.no = t.id * 2 + 1 WHERE t.turn_id = ? AND m.id = ?',
            turn.turnId,
            event.message_id,
          )
        : event.type === 'block.ready'
          ? has('SELECT 1 FROM blocks WHERE id = ?', (event.block as { id: string }).id)
          : event.type === 'turn.end' && event.status !== 'error'
            ? has('SELECT 1 FROM turns WHERE turn_id = ? AND ended_at_ms IS NOT NULL', turn.turnId)
            : true;
    if (!isStored) this.broken.push(`committed before spoken: ${event.type} ${event.seq} of ${turn.name} left ${node} and is in no row`);
  }

  /** The person's answer to the card, sent until there is a reply. */
  async #answer(deviceId: string, invocationId: string, how: 'confirm' | 'decline' | 'race'): Promise<string> {
    const decisions = how === 'race' ? (['confirm', 'decline'] as const) : [how];
    const replies = await Promise.all(decisions.map((decision) => this.#decide(deviceId, invocationId, decision)));
    const [status = ''] = new Set(replies);
    if (new Set(replies).size > 1) this.broken.push(`one answer to a card: ${invocationId} was ${replies.join(' and ')}`);
    this.answers.set(invocationId, status);
    return status;
  }

  async #decide(deviceId: string, invocationId: string, decision: 'confirm' | 'decline'): Promise<string> {
    for (let number = 1; number <= TRIES_MAX; number++) {
      try {
        const reply = await this.#anyNode()?.call((composed) =>
          composed.services.confirmations.confirm(this.#caller(composed, deviceId), invocationId, { decision }),
        );
        if (reply !== undefined) {
          world.note(`${invocationId} is ${reply.status}`);
          return reply.status;
        }
      } catch (error) {
        if (!(mayBe(error) || (error instanceof Refusal && ERROR_TABLE[error.code].retryable)))
          this.broken.push(`an answer to a card failed: ${error instanceof Error ? error.stack : error}`);
      }
      await this.#pause();
    }
    return 'no reply';
  }

  /** Somebody stops one of the turns that were sent. */
  stop(nth: number): void {
    const turns = [...this.history.turns.values()];
    const turn = turns[nth % Math.max(1, turns.length)];
    const node = this.#anyNode();
    if (turn === undefined || node === undefined) return;
    node
      .call((composed) => composed.actors.stopTurn(this.#caller(composed, turn.deviceId), turn.turnId))
      .catch((error: unknown) => {
        if (!(mayBe(error) || error instanceof Refusal)) this.broken.push(`a stop failed: ${error instanceof Error ? error.stack : error}`);
      });
  }
}
