/**
 * What clients observed of a service, request by request, and the rules that hold whatever happened to its processes meanwhile.
 * Rules here need nothing but the observations; those about what is stored are in `stored-history.ts`.
 */
import type { StreamedEvent } from './client.ts';

export interface Seen {
  /** By this process's monotonic clock. */
  readonly atMs: number;
  readonly event: StreamedEvent;
}

/** Open: still read. Ended: the answer came to its end. Broken: its connection did not. Silent: the client gave it up. */
export type Closing = 'open' | 'ended' | 'broken' | 'silent';

/** One request for a turn, and everything that came back. */
export interface Attempt {
  readonly turnId: string;
  /** Which of the turn's copies, from 0. */
  readonly copy: number;
  /** Which try of this copy, from 1. */
  readonly number: number;
  readonly node: string;
  readonly via: 'send' | 'attach';
  readonly sentAtMs: number;
  /** Null: no answer came. */
  status: number | null;
  /** Code of an answer that is no stream. */
  refusal: string | null;
  readonly seen: Seen[];
  closing: Closing;
  closedAtMs: number;
  /** What broke. */
  error: string | null;
}

/** A turn as it was meant. */
export interface IntendedTurn {
  readonly turnId: string;
  /** The number of the question; the model's answer repeats it. */
  readonly name: string;
  /** What is said; '' for a continuation, which brings results. */
  readonly text: string;
  readonly toolResults?: readonly Readonly<Record<string, unknown>>[];
  readonly deviceId: string;
  /** Null: it began a conversation. */
  readonly conversationId: string | null;
  /** Which question of its conversation, from 1. */
  readonly ordinal: number;
}

export interface EpochSample {
  readonly conversationId: string;
  readonly epoch: number;
  readonly owner: string;
}

export class History {
  readonly turns = new Map<string, IntendedTurn>();
  readonly attempts: Attempt[] = [];
  /** As they changed, in the order of sampling. */
  readonly epochs: EpochSample[] = [];
  readonly #sampled = new Map<string, EpochSample>();

  intend(turn: IntendedTurn): void {
    this.turns.set(turn.turnId, turn);
  }

  attempt(attempt: Attempt): void {
    this.attempts.push(attempt);
  }

  sample(sample: EpochSample): void {
    const before = this.#sampled.get(sample.conversationId);
    if (before?.epoch === sample.epoch && before.owner === sample.owner) return;
    this.#sampled.set(sample.conversationId, sample);
    this.epochs.push(sample);
  }
}

/** Everything that is held against a history; a history that breaks one of them exists as a test of the checker. */
export const RULES = [
  'seq rises',
  'no gap',
  'turn.end is last',
  'deltas are the block',
  'streams end',
  'streams end with turn.end',
  'refusals may be retried',
  'one seq, one event',
  'one message id',
  'one answer',
  'one end',
  'every copy is answered',
  'the question asked is answered',
  'epochs rise',
  'one epoch, one owner',
  'what was acknowledged is stored',
  'what was streamed is stored',
  'one turn',
  'its message is stored',
  'it stays in its conversation',
  'one charge',
  'every turn ends',
  'one model call an attempt',
  'one message',
  'no other turns',
  'rows are what is served',
  'the ledger adds up',
  'each turn is counted once',
  'executed once',
] as const;

export type Rule = (typeof RULES)[number];

export interface Violation {
  readonly rule: Rule;
  /** Turn, conversation or invocation. */
  readonly of: string;
  readonly detail: string;
}

/** After a crash `seq` continues at a multiple of this: the only gap that a stream may have. */
const RECOVERY_STRIDE = 1_000_000;

export const eventsOf = (attempt: Attempt): StreamedEvent[] => attempt.seen.map(({ event }) => event);

/** The `turn.end` with which the stream ended; undefined when it broke off or the turn ended with an error. */
export function completedEnd(attempt: Attempt): StreamedEvent | undefined {
  const last = attempt.seen.at(-1)?.event;
  return last?.type === 'turn.end' && last.status !== 'error' ? last : undefined;
}

/** The blocks that a stream showed whole, as JSON. */
export function answerOf(attempt: Attempt): string {
  return JSON.stringify(
    eventsOf(attempt)
      .filter(({ type }) => type === 'block.ready')
      .map(({ block }) => block),
  );
}

type Report = (rule: Rule, detail: string) => void;

/** Events that not every reader gets: pings are not kept for later readers, and a refusal and its `turn.end` go to one reader only. */
const TOLD_TO_SOME = ['ping', 'error', 'turn.end'];

/** The seqs of a turn at which some reader got an event that every reader gets. */
function spokenSeqs(attempts: readonly Attempt[]): Set<number> {
  return new Set(attempts.flatMap((attempt) => eventsOf(attempt).flatMap(({ seq, type }) => (TOLD_TO_SOME.includes(type) ? [] : [seq]))));
}

function checkSeq(attempt: Attempt, spoken: ReadonlySet<number>, report: Report): void {
  let before: StreamedEvent | undefined;
  const newest = Math.max(...spoken);
  // A later attempt replaces what this one said: who had not read it yet is told the end alone (STREAM-16).
  const isOvertaken = ({ seq, type }: StreamedEvent) => TOLD_TO_SOME.includes(type) && newest > seq;
  for (const event of eventsOf(attempt)) {
    if (before !== undefined && event.seq <= before.seq)
      report('seq rises', `${event.seq} (${event.type}) after ${before.seq} on ${attempt.node}`);
    else if (
      before !== undefined &&
      event.seq !== before.seq + 1 &&
      (spoken.has(before.seq + 1) || event.seq > before.seq + 2) &&
      event.seq % RECOVERY_STRIDE !== 0 &&
      !isOvertaken(event)
    ) {
      report('no gap', `${event.seq} (${event.type}) after ${before.seq} (${before.type}) on ${attempt.node}`);
    }
    if (before?.type === 'turn.end') report('turn.end is last', `${event.type} after it on ${attempt.node}`);
    before = event;
  }
}

/** Words that came piece by piece are the words of the whole block. */
function checkWords(attempt: Attempt, report: Report): void {
  const words = new Map<unknown, string>();
  for (const event of eventsOf(attempt)) {
    if (event.type === 'block.start') words.set(event.index, '');
    const spoken = words.get(event.index);
    if (spoken === undefined) continue;
    if (event.type === 'block.delta') words.set(event.index, spoken + String(event.text_delta));
    if (event.type !== 'block.ready') continue;
    const { block_type, body } = event.block as { block_type: string; body: { md?: string } };
    // What the service says itself comes whole; a piece that got lost leaves a gap in `seq`.
    if (block_type === 'text' && spoken !== '' && body.md !== spoken)
      report('deltas are the block', `${JSON.stringify(spoken)} is not ${JSON.stringify(body.md)}`);
    words.delete(event.index);
  }
}

/** A stream that came to its end says how the turn ended, and a refusal says that it may be tried again. */
function checkEnd(attempt: Attempt, report: Report): void {
  const where = `${attempt.via} ${attempt.copy}.${attempt.number} on ${attempt.node}`;
  if (attempt.closing === 'open') report('streams end', where);
  if (attempt.status === 200 && attempt.closing === 'ended' && attempt.seen.at(-1)?.event.type !== 'turn.end') {
    report('streams end with turn.end', `${where}: ${attempt.seen.map(({ event }) => event.type).join(' ')}`);
  }
  const error = attempt.seen.find(({ event }) => event.type === 'error')?.event;
  if (error !== undefined && error.retryable !== true) report('refusals may be retried', `${where}: ${JSON.stringify(error)}`);
  if (attempt.status !== null && attempt.status !== 200 && attempt.status !== 503 && attempt.via === 'send') {
    report('refusals may be retried', `${where}: ${attempt.status} ${attempt.refusal}`);
  }
}

/** What all streams of one turn say together. */
function checkTogether(attempts: readonly Attempt[], report: Report): void {
  const ids = new Map<string, string>();
  const meanings = new Map<number, string>();
  const answers = new Map<string, string>();
  const ends = new Set<number>();
  for (const attempt of attempts) {
    for (const event of eventsOf(attempt)) {
      if (event.type === 'turn.start') ids.set(`${event.conversation_id} ${event.message_id}`, attempt.node);
      // Which reader a refusal is told to differs, and so does what is left of a minute.
      if (event.type === 'error' || event.type === 'turn.end') continue;
      const said = JSON.stringify({ ...event, request_id: undefined, receipts: undefined });
      const before = meanings.get(event.seq);
      if (before !== undefined && before !== said) report('one seq, one event', `${said} on ${attempt.node}, elsewhere ${before}`);
      meanings.set(event.seq, said);
    }
    const end = completedEnd(attempt);
    if (end === undefined) continue;
    ends.add(end.seq);
    answers.set(answerOf(attempt), attempt.node);
  }
  if (ids.size > 1) report('one message id', [...ids.keys()].join(', '));
  if (answers.size > 1) report('one answer', [...answers].map(([answer, node]) => `${node}: ${answer}`).join(' | '));
  if (ends.size > 1) report('one end', [...ends].join(', '));
}

/** An answer is to the question that was asked, and its model was told of all questions before. */
function checkAnswer(turn: IntendedTurn, attempts: readonly Attempt[], report: Report): void {
  const completed = attempts.filter((attempt) => completedEnd(attempt) !== undefined);
  const sent = attempts.filter(({ via }) => via === 'send');
  if (sent.length === 0) report('every copy is answered', 'it was never sent');
  for (const copy of new Set(sent.map((attempt) => attempt.copy))) {
    const tries = sent.filter((attempt) => attempt.copy === copy);
    if (!tries.some((attempt) => completed.includes(attempt))) report('every copy is answered', `copy ${copy} after ${tries.length} tries`);
  }
  for (const attempt of completed) {
    const blocks = JSON.parse(answerOf(attempt)) as { block_type: string; body: { md?: string } }[];
    // The service itself may have something to say beside the model, and a card has no words.
    const texts = blocks.filter(({ block_type }) => block_type === 'text').map(({ body }) => body.md ?? '');
    if (texts.length === 0) continue;
    // It may be stopped before the model says a word.
    if (completedEnd(attempt)?.stopped === true && !texts.some((text) => text.startsWith('Answer '))) continue;
    const wanted = new RegExp(`^Answer \\d+ to ${turn.name}, question ${turn.ordinal}\\.`);
    if (!texts.some((text) => wanted.test(text))) {
      report('the question asked is answered', `question ${turn.ordinal}, ${turn.name}: ${JSON.stringify(texts)}`);
    }
  }
}

function checkEpochs(samples: readonly EpochSample[]): Violation[] {
  const found: Violation[] = [];
  const highest = new Map<string, EpochSample>();
  for (const sample of samples) {
    const before = highest.get(sample.conversationId);
    const of = sample.conversationId;
    if (before !== undefined && sample.epoch < before.epoch) {
      found.push({ rule: 'epochs rise', of, detail: `${sample.epoch} (${sample.owner}) after ${before.epoch} (${before.owner})` });
    } else if (before !== undefined && sample.epoch === before.epoch && sample.owner !== before.owner) {
      found.push({ rule: 'one epoch, one owner', of, detail: `${sample.epoch}: ${before.owner} and ${sample.owner}` });
    }
    highest.set(sample.conversationId, sample);
  }
  return found;
}

/** Requests by the turn that they were for. */
export function attemptsByTurn(history: History): Map<string, Attempt[]> {
  const byTurn = new Map<string, Attempt[]>([...history.turns.keys()].map((turnId) => [turnId, []]));
  for (const attempt of history.attempts) byTurn.get(attempt.turnId)?.push(attempt);
  return byTurn;
}

/** Everything that the observations alone show to be wrong. */
export function checkObservations(history: History): Violation[] {
  const found: Violation[] = [];
  for (const [turnId, attempts] of attemptsByTurn(history)) {
    const report: Report = (rule, detail) => found.push({ rule, of: turnId, detail });
    const spoken = spokenSeqs(attempts);
    for (const attempt of attempts) {
      checkSeq(attempt, spoken, report);
      checkWords(attempt, report);
      checkEnd(attempt, report);
    }
    checkTogether(attempts, report);
    const turn = history.turns.get(turnId);
    if (turn !== undefined) checkAnswer(turn, attempts, report);
  }
  return [...found, ...checkEpochs(history.epochs)];
}
