/**
 * Calls of the app's actions in one conversation (CLIENT-10 to CLIENT-12): which are run, which a person answers, and which results are
 * still to be sent. Pure. Every call is run once, however often the service names it.
 *
 * | phase     | means | next |
 * |-----------|-------|------|
 * | running   | its handler runs | answered |
 * | asking    | a person has to answer its card | deciding, editing |
 * | deciding  | the person's answer is on its way | running, answered, settled, asking; gone where another client ran it |
 * | editing   | a changed value is on its way | asking |
 * | answered  | its result is known and not sent | sending |
 * | sending   | a continuation carries its result | settled; answered again when that was refused |
 * | settled   | nothing is left to do | |
 */
import type { Block } from '../../../protocol/catalog/block.ts';
import type { ToolResult } from '../../../protocol/runtime/chat.ts';
import type { ConfirmReply } from '../../../protocol/runtime/invocations.ts';
import type { OpenReply } from '../../../protocol/runtime/messages.ts';
import type { PendingInvocation } from '../../../protocol/runtime/stream-events.ts';
import type { Failure } from '../transport/failure.ts';
import type { TurnState } from './turn.ts';

export type CallPhase = 'running' | 'asking' | 'deciding' | 'editing' | 'answered' | 'sending' | 'settled';
export type Decision = 'confirm' | 'decline';

/** Calls of an answer, and of some before it: a conversation has few that are open. */
const CALLS_MAX = 200;

export interface Call extends PendingInvocation {
  readonly phase: CallPhase;
  /** The turn that made it; undefined of one that was open before this page. */
  readonly askedBy?: string;
  /** The tab where it runs: which asked for it, or where the person agreed. Absent: the one that leads. */
  readonly tab?: string | undefined;
  /** Revision of its card as it is now; undefined without a card. */
  readonly revision?: number;
  /** What the person said last; undefined as well once the service did not take it. */
  readonly decision?: Decision;
  /** Sent with every answer of this client from the first that may have been recorded, so that it knows its own. */
  readonly decisionId?: string | undefined;
  /** An answer that was sent before may be the one that is recorded. */
  readonly isAgain?: true;
  /** The card's status after the person's answer. */
  readonly outcome?: ConfirmReply['status'];
  /** For the app's backend (CONFIRM-19). */
  readonly receipt?: string;
  readonly failure?: Failure;
  readonly result?: ToolResult;
  readonly sentBy?: string;
}

export type Calls = readonly Call[];

function changed(calls: Calls, id: string, change: (call: Call) => Call): Calls {
  const at = calls.findIndex(({ invocation_id: each }) => each === id);
  const before = calls[at];
  if (before === undefined) return calls;
  const after = change(before);
  return after === before ? calls : calls.with(at, after);
}

function deciding({ failure: _, ...call }: Call, decision: Decision, decisionId?: string, tab = call.tab): Call {
  return { ...call, phase: 'deciding', decision, tab, ...(call.decision === undefined ? { decisionId } : { isAgain: true }) };
}

/** The tab is gone where the person agreed: it runs nowhere before they press again. */
export function isLeft({ failure }: Call): boolean {
  return failure?.code === 'unusable';
}

export function findCall(calls: Calls, id: string): Call | undefined {
  return calls.find(({ invocation_id: each }) => each === id);
}

function bounded(calls: Calls): Calls {
  return calls.length <= CALLS_MAX ? calls : calls.filter(({ phase }, at) => phase !== 'settled' || at >= calls.length - CALLS_MAX);
}

/** A call that is known stays as it is; who made it may be told later than that it is open. */
function added(calls: Calls, call: Call): Calls {
  const { invocation_id: id, askedBy } = call;
  if (findCall(calls, id) === undefined) return bounded([...calls, call]);
  return changed(calls, id, (known) => (known.askedBy === undefined && askedBy !== undefined ? { ...known, askedBy } : known));
}

type Asker = Pick<TurnState, 'turnId' | 'tab'>;

/** Reads begin with `action.execute`, before the turn ends; `pending` repeats them, and names those whose event was lost. */
export function execute(
  calls: Calls,
  { invocation_id, name, params, timeout_ms }: Pick<Call, 'invocation_id' | 'name' | 'params' | 'timeout_ms'>,
  { turnId: askedBy, tab }: Asker,
): Calls {
  return added(calls, { invocation_id, name, params, timeout_ms, risk: 'read', executor: 'client', phase: 'running', askedBy, tab });
}

export function left(calls: Calls, pending: readonly PendingInvocation[], { turnId: askedBy, tab }: Asker): Calls {
  return pending.reduce((known, call) => {
    if (call.risk === 'read' && call.executor === 'server') return known;
    return added(known, { ...call, phase: call.risk === 'read' ? 'running' : 'asking', askedBy, tab });
  }, calls);
}

type OpenCall = OpenReply['pending'][number];

/** What a confirmed call of the client's is answered with when nobody can say whether its handler ran. */
export function lostOutcome({ invocation_id }: Pick<OpenCall, 'invocation_id'>): ToolResult {
  const error = 'The app was closed while this ran. Whether it was done is not known: do not call it again without asking.';
  return { invocation_id, status: 'error', confirmed: true, error };
}

/**
 * What is open by the service's word, after a reload. Calls that are known here go on as they are, and those that the service does not
 * wait for are over; `isSending` says of a turn whether it still brings results.
 */
export function restore(calls: Calls, open: readonly OpenCall[], isSending: (turnId: string) => boolean): Calls {
  const awaited = new Set(open.map(({ invocation_id: id }) => id));
  const settled: Calls = calls.map((call): Call => {
    if (call.phase === 'sending' && isSending(call.sentBy ?? '')) return call;
    if (!awaited.has(call.invocation_id)) return { ...call, phase: 'settled' };
    return call.phase === 'sending' ? { ...call, phase: 'answered' } : call;
  });
  return open.reduce((known, call): Calls => {
    const { status, ...invocation } = call;
    const before = findCall(known, call.invocation_id);
    if (before !== undefined) {
      // It was agreed to here, and no handler began: what is recorded is asked for once more.
      const isAgreed = status === 'confirmed' && before.phase === 'asking' && before.decision === 'confirm';
      const again = { ...deciding(before, 'confirm'), ...(isLeft(before) ? { failure: before.failure } : {}) };
      return isAgreed ? changed(known, call.invocation_id, () => again) : known;
    }
    if (status === 'dispatched') return call.executor === 'server' ? known : added(known, { ...invocation, phase: 'running' });
    if (status === 'pending') return added(known, { ...invocation, phase: 'asking' });
    const result: ToolResult =
      call.executor === 'server' ? { invocation_id: call.invocation_id, status: 'ok', confirmed: true } : lostOutcome(call);
    return added(known, { ...invocation, phase: 'answered', outcome: 'confirmed', result });
  }, settled);
}

/** Calls whose handlers ran when the app was closed: a read runs again, of a write nobody knows. What runs in a tab is that one's, while it is there. */
export function afterReload(calls: Calls): Calls {
  return calls.map((call): Call => {
    if (call.phase === 'running' && call.risk !== 'read' && call.tab === undefined)
      return { ...call, phase: 'answered', result: lostOutcome(call) };
    if (call.phase === 'deciding' || call.phase === 'editing') return { ...call, phase: 'asking' };
    return call;
  });
}

export function decide(calls: Calls, id: string, decision: Decision, decisionId?: string, tab?: string): Calls {
  return changed(calls, id, (call) => (call.phase === 'asking' ? deciding(call, decision, decisionId, tab) : call));
}

/**
 * The service recorded an answer, this one or an earlier one. A call of the client's runs now, where it was this client whose answer that
 * is; one of the service's runs there.
 */
export function decided(calls: Calls, id: string, { status, receipt }: ConfirmReply, isOurs: boolean): Calls {
  return changed(calls, id, (call) => {
    if (call.phase !== 'deciding') return call;
    const known: Call = { ...call, outcome: status, ...(receipt === undefined ? {} : { receipt }) };
    const revision = call.revision === undefined ? {} : { revision: call.revision };
    if (status === 'expired') return { ...known, phase: 'settled' };
    if (status === 'declined') return { ...known, phase: 'answered', result: { invocation_id: id, status: 'declined' } };
    if (call.executor === 'client') {
      // Whoever agreed runs it. What the person said last is that it shall not be done.
      if (!isOurs) return { ...known, phase: 'settled' };
      if (call.decision === 'decline') return { ...known, phase: 'answered', result: { invocation_id: id, status: 'declined' } };
      return { ...known, phase: 'running' };
    }
    return { ...known, phase: 'answered', result: { invocation_id: id, status: 'ok', confirmed: true, ...revision } };
  });
}

/** The answer or the change was not taken, or the tab is gone that was to do it: the card waits again. Of one that may be tried again nobody knows whether it was. */
export function refused(calls: Calls, id: string, failure: Failure): Calls {
  return changed(calls, id, (call) => {
    if (call.phase !== 'deciding' && call.phase !== 'editing' && call.phase !== 'running') return call;
    const { decision, isAgain: _, ...others } = call;
    return { ...others, ...(failure.retryable && decision !== undefined ? { decision } : {}), phase: 'asking', failure };
  });
}

/** Another client of this installation began it: what the service says of it counts. */
export function taken(calls: Calls, id: string): Calls {
  return calls.filter(({ invocation_id: each }) => each !== id);
}

export function edit(calls: Calls, id: string): Calls {
  return changed(calls, id, (call) => {
    if (call.phase !== 'asking') return call;
    const { failure: _, ...others } = call;
    return { ...others, phase: 'editing' };
  });
}

/** Values by name; null takes one away. */
function withValues(params: Call['params'], values: Call['params']): Call['params'] {
  return Object.fromEntries(Object.entries({ ...params, ...values }).filter(([, value]) => value !== null));
}

export function edited(calls: Calls, id: string, values: Call['params'], revision: number): Calls {
  return changed(calls, id, (call) =>
    call.phase === 'editing' ? { ...call, phase: 'asking', revision, params: withValues(call.params, values) } : call,
  );
}

interface CardField {
  readonly param: string;
  readonly value?: unknown;
}

/** A card as it is shown decides with which values its action runs. */
export function shown(calls: Calls, { block_type: type, body, revision }: Block): Calls {
  if (type !== 'confirm_card' || typeof body.invocation_id !== 'string' || !Array.isArray(body.fields)) return calls;
  const fields = body.fields as readonly CardField[];
  const params = Object.fromEntries(fields.filter(({ value }) => value !== undefined).map(({ param, value }) => [param, value]));
  return changed(calls, body.invocation_id, (call) => {
    if (call.phase !== 'asking' && call.phase !== 'editing') return call;
    const isOver = body.status !== 'pending';
    return { ...call, revision, params, ...(isOver ? { phase: 'settled' } : {}) };
  });
}

export function ran(calls: Calls, id: string, outcome: Pick<ToolResult, 'status' | 'result' | 'error'>): Calls {
  return changed(calls, id, (call) => {
    if (call.phase !== 'running') return call;
    const agreed = call.risk === 'read' ? {} : { confirmed: true, ...(call.revision === undefined ? {} : { revision: call.revision }) };
    return { ...call, phase: 'answered', result: { invocation_id: id, ...outcome, ...agreed } };
  });
}

export function send(calls: Calls, ids: readonly string[], turnId: string): Calls {
  return calls.map((call): Call => (ids.includes(call.invocation_id) ? { ...call, phase: 'sending', sentBy: turnId } : call));
}

/** The turn that carries results has begun: they are the service's. */
export function delivered(calls: Calls, turnId: string): Calls {
  return calls.some(({ sentBy, phase }) => sentBy === turnId && phase === 'sending')
    ? calls.map((call): Call => (call.sentBy === turnId && call.phase === 'sending' ? { ...call, phase: 'settled' } : call))
    : calls;
}

/**
 * The continuation was refused for good. A card that has another revision by now is asked about again; other results are dropped, because
 * the service takes none of them a second time.
 */
export function undelivered(calls: Calls, turnId: string, card: Block | undefined): Calls {
  return calls.map((call): Call => {
    if (call.sentBy !== turnId || call.phase !== 'sending') return call;
    const isConflict = card !== undefined && card.body.invocation_id === call.invocation_id;
    const { result: _, sentBy: _sentBy, ...rest } = call;
    return isConflict ? { ...rest, phase: 'asking' } : { ...rest, phase: 'settled' };
  });
}

/** The attempt that made these calls failed: nobody waits for their results. */
export function abandoned(calls: Calls, turnId: string): Calls {
  return calls.map((call): Call => (call.askedBy === turnId && call.phase !== 'settled' ? { ...call, phase: 'settled' } : call));
}

/** Receipts of what the service took (CONFIRM-19). */
export function receipted(calls: Calls, receipts: readonly { readonly invocation_id: string; readonly receipt: string }[]): Calls {
  return receipts.reduce((known, { invocation_id: id, receipt }) => changed(known, id, (call) => ({ ...call, receipt })), calls);
}

/** Whether a result is about to be there, so that a message should wait for it. */
export function isWorking(calls: Calls): boolean {
  return calls.some(({ phase }) => phase === 'running' || phase === 'answered');
}

/** Results to be sent now: all that are known, once no handler runs. `isAwaited` says of a turn whether it waits for its calls. */
export function dueResults(calls: Calls, max: number, isAwaited: (turnId: string) => boolean): readonly ToolResult[] {
  if (calls.some(({ phase }) => phase === 'running')) return [];
  const due = calls.filter(({ phase, askedBy }) => phase === 'answered' && (askedBy === undefined || isAwaited(askedBy)));
  return due.flatMap(({ result }) => (result === undefined ? [] : [result])).slice(0, max);
}
