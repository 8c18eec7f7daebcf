/**
 * Questions between the nodes of a host, over connections to the socket of the asked node (CLUSTER-18). A connection carries one question at a time;
 * after the answer it carries the next one, or what follows the answer, such as the frames of a turn. The end of a process closes its
 * connections at once; `drop` closes those of a suspended one.
 */
import { connect, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { ERROR_TABLE, type PlainRefusal, plainRefusal, Refusal, refusalFrom } from '../../../protocol/errors.ts';
import { socketPath } from '../nodes/node-id.ts';
import type { Asks } from './asks.ts';
import { type Line, SocketLine } from './line.ts';

/** A client waits for the answer, and a refusal because of an unreachable node is to reach it within a second. */
const ASK_TIMEOUT_MS = 750;
/** Both ways together, some 20 KB each: a node carries about as many streams, so one that has more has lost count. */
const LINES_MAX = 10_000;

/**
 * The node was not reached, or did not answer in time. It may have received the question and acted on it. `Members` knows whether the node is
 * alive.
 */
export class NodeUnreachable extends Error {
  readonly node: string;
  /** `closed`: the connection was refused or ended, so its process may be gone. `silent`: it is there and does not answer. */
  readonly how: 'closed' | 'silent';

  constructor(node: string, how: 'closed' | 'silent', why: string) {
    super(`Node ${node} is not reachable: ${why}.`);
    this.name = 'NodeUnreachable';
    this.node = node;
    this.how = how;
  }
}

/**
 * The node received the question and failed: a bug, whose cause is in that node's log. Not a NodeUnreachable: the node still owns its
 * conversations, so they must not be taken over.
 */
export class NodeFailed extends Error {
  readonly node: string;

  constructor(node: string, kind: string) {
    super(`Node ${node} failed at ${kind}: see its log.`);
    this.name = 'NodeFailed';
    this.node = node;
  }
}

/** Connections to one node that are kept for the next question: making one takes a node that is busy two turns of its loop instead of one. */
const KEPT_MAX = 16;

/** The asker's first line. After `expiresAtMs` the asker has given up. */
type Question = readonly [from: string, kind: string, ask: unknown, expiresAtMs: number];
/** The reply. `follow`: an answer, and the line then carries what follows it. */
type Reply = readonly ['answer' | 'follow', answer: unknown] | readonly ['refused', refusal: PlainRefusal] | readonly ['failed'];

/** An answer, and what follows it on the same line; without that, the line takes the next question. */
export interface Answered<K extends keyof Asks> {
  readonly answer: Asks[K]['answer'];
  readonly follow?: (line: Line) => void;
}

export interface NodeQuestionsOptions {
  readonly dataDir: string;
  /** This node's id. */
  readonly self: string;
  readonly log: Logger;
  /** Wall clock, the same for all nodes of the host. */
  nowMs(): number;
  readonly askTimeoutMs?: number;
}

export class NodeQuestions {
  readonly #options: NodeQuestionsOptions;
  readonly #handlers = new Map<string, (ask: unknown) => Promise<Answered<keyof Asks>>>();
  /** Open connections by the node at the other end. */
  readonly #lines = new Map<SocketLine, string>();
  /** Idle connections for this node's next questions, by the node that is asked. */
  readonly #kept = new Map<string, SocketLine[]>();

  constructor(options: NodeQuestionsOptions) {
    this.#options = options;
  }

  /** Connections that are open, both ways. */
  get count(): number {
    return this.#lines.size;
  }

  /** Register handlers at the start: a question without one fails. */
  answer<K extends keyof Asks>(kind: K, handler: (ask: Asks[K]['ask']) => Promise<Answered<K>>): void {
    this.#handlers.set(kind, handler as (ask: unknown) => Promise<Answered<keyof Asks>>);
  }

  /** Asks one node. @throws NodeUnreachable when no answer came in time; NodeFailed; the Refusal that the other side threw. */
  async ask<K extends keyof Asks>(node: string, kind: K, ask: Asks[K]['ask']): Promise<Asks[K]['answer']> {
    const { answer, line } = await this.open(node, kind, ask);
    line?.close();
    return answer;
  }

  /** As `ask`, with the line if something follows the answer; the caller closes it. */
  async open<K extends keyof Asks>(node: string, kind: K, ask: Asks[K]['ask']): Promise<{ answer: Asks[K]['answer']; line: Line | null }> {
    if (this.#lines.size >= LINES_MAX) throw new NodeUnreachable(node, 'silent', `${LINES_MAX} connections are open already`);
    const { askTimeoutMs = ASK_TIMEOUT_MS, dataDir, nowMs, self } = this.#options;
    const line = this.#kept.get(node)?.pop() ?? this.#line(connect(socketPath(dataDir, node)), node);
    line.send([self, kind, ask, nowMs() + askTimeoutMs] satisfies Question);
    try {
      const [outcome, body] = await this.#reply(line, node, kind, askTimeoutMs);
      if (outcome === 'follow') return { answer: body as Asks[K]['answer'], line };
      if (outcome === 'answer') {
        this.#keep(node, line);
        return { answer: body as Asks[K]['answer'], line: null };
      }
      // A node of another version may have a code that this one does not know.
      if (outcome === 'refused' && Object.hasOwn(ERROR_TABLE, body.code)) throw refusalFrom(body);
      throw new NodeFailed(node, kind);
    } catch (error) {
      line.close();
      throw error;
    }
  }

  /** The first line that comes. */
  #reply(line: SocketLine, node: string, kind: string, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const fail = (how: 'closed' | 'silent', why: string) => {
        clearTimeout(timer);
        reject(new NodeUnreachable(node, how, why));
      };
      // An answer that came while this process was suspended is read first.
      const timeOut = () => setImmediate(fail, 'silent', `no answer to ${kind} within ${timeoutMs} ms`);
      const timer = setTimeout(timeOut, timeoutMs);
      line.hear({
        message: (message) => {
          clearTimeout(timer);
          // What follows is for the caller.
          line.hear(null);
          if (Array.isArray(message)) resolve(message as unknown as Reply);
          else fail('silent', 'it is of another version');
        },
        // EAGAIN: too many connections wait to be accepted, so the process is there.
        closed: () => fail(line.failure === 'EAGAIN' ? 'silent' : 'closed', line.failure ?? 'the connection ended'),
      });
    });
  }

  /** A connection to this node's socket that begins with a question; `first` is what was read of it. */
  accept(socket: Socket, first: Buffer): void {
    if (this.#lines.size >= LINES_MAX) {
      socket.destroy();
      return;
    }
    this.#await(this.#line(socket, '', first));
  }

  #await(line: SocketLine): void {
    line.hear({ message: (message) => void this.#answer(line, message), closed: () => {} });
  }

  /** For the next question to the node. */
  #keep(node: string, line: SocketLine): void {
    const kept = this.#kept.get(node) ?? [];
    if (kept.length >= KEPT_MAX) {
      line.close();
      return;
    }
    this.#kept.set(node, kept);
    kept.push(line);
    const forget = () => {
      const at = kept.indexOf(line);
      if (at >= 0) kept.splice(at, 1);
      line.close();
    };
    // Nothing was asked, so only the end of the connection is expected.
    line.hear({ message: forget, closed: forget });
  }

  async #answer(line: SocketLine, message: unknown): Promise<void> {
    line.hear(null);
    const { log, nowMs } = this.#options;
    const [from, kind, ask, expiresAtMs] = (Array.isArray(message) ? message : []) as unknown as Question;
    this.#lines.set(line, from);
    // It waited in the socket while this process was suspended: the asker has given up and asked elsewhere.
    if (!(nowMs() <= expiresAtMs)) {
      line.close();
      return;
    }
    const reply = (reply: Reply) => line.send(reply);
    try {
      const handler = this.#handlers.get(kind);
      if (handler === undefined) throw new Error(`no handler for ${kind}`);
      const { answer, follow } = await handler(ask);
      reply([follow === undefined ? 'answer' : 'follow', answer]);
      if (follow === undefined) this.#await(line);
      else follow(line);
    } catch (error) {
      if (!(error instanceof Refusal))
        log.error({ err: error, kind, from }, 'answering a question of another node failed: the other node is told so');
      reply(error instanceof Refusal ? ['refused', plainRefusal(error)] : ['failed']);
      line.end();
    }
  }

  #line(socket: Socket, node: string, first?: Buffer): SocketLine {
    const line = new SocketLine(socket, first);
    this.#lines.set(line, node);
    socket.once('close', () => this.#lines.delete(line));
    return line;
  }

  /** The node is lost: closes its connections and ignores what still comes from it. */
  drop(node: string): void {
    this.#kept.delete(node);
    for (const [line, other] of this.#lines) if (other === node) line.abort();
  }

  close(): void {
    for (const line of this.#lines.keys()) line.close();
  }
}
