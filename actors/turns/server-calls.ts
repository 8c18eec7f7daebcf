/**
 * The action calls of one turn that the service runs itself: reads for the model's next round, and writes that a person
 * confirmed and a continuation handed over (ACTION-12).
 *
 * Invariants: a write is sent only while its row says `executing`, which the opening of the turn committed; how it ended is
 * committed by a compare-and-set of its own as soon as it is known, so that it is kept whatever becomes of the turn.
 */
import { fence } from '../../assistant/fence.ts';
import type { ToolCall } from '../../assistant/models/model.ts';
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import { type InvocationRow, type NewInvocation, readInvocationById } from '../../storage/conversations/invocations.ts';
import type { ActionOutcome } from '../calls/action-runner.ts';
import { definitionOf } from '../calls/call-definition.ts';
import { settledCard } from '../calls/card.ts';
import { settleExecution } from '../calls/invocation-step.ts';
import { logOf, mint, type TurnFacts, turnReceipt } from './facts.ts';

/** A read of the model's round. */
export interface ServerRead {
  readonly call: ToolCall;
  readonly action: ManifestAction;
  readonly definition: ActionDefinition;
  /** Checked, in placeholder form. */
  readonly params: Readonly<Record<string, unknown>>;
}

export class ServerCalls {
  readonly #turn: TurnFacts;
  /** Ends the reads that are out. Made for the first one: most turns have none, and to abort costs a turn more than a delta does. */
  #reading: AbortController | undefined;
  #isOver = false;
  /** An endpoint answered 401 to the person's token. */
  isTokenRefused = false;
  /** Settles when no write is out. */
  #writing: Promise<void> = Promise.resolve();
  #toExecute: readonly InvocationRow[];
  #unknown: readonly InvocationRow[];

  constructor(turn: TurnFacts) {
    this.#turn = turn;
    this.#toExecute = turn.work.executions;
    this.#unknown = turn.work.lost;
  }

  /** Whether writes wait to be run: before anything else of the turn. */
  get hasWrites(): boolean {
    return this.#toExecute.length > 0;
  }

  /** Runs the writes, one after the other in the order they were asked for: a later one may build on an earlier one. Never rejects. */
  runWrites(): Promise<void> {
    const rows = this.#toExecute;
    this.#toExecute = [];
    this.#writing = (async () => {
      for (const row of rows) await this.#write(row);
    })();
    return this.#writing;
  }

  /** Settles once every write that was sent is accounted for. */
  get written(): Promise<void> {
    return this.#writing;
  }

  /** Sentences for the person about writes whose end is unknown; each is said once. */
  takeWarnings(): string[] {
    const rows = this.#unknown;
    this.#unknown = [];
    return rows.map(
      ({ name }) =>
        `It could not be found out whether “${name.replaceAll('_', ' ')}” was done: the connection was lost while it ran. It was not sent a second time. Please check before you try it again.`,
    );
  }

  async #write(row: InvocationRow): Promise<void> {
    const turn = this.#turn;
    try {
      // A process that stood still may have been given up: then the person was told that the end is unknown, and so it stays.
      if (readInvocationById(turn.db, row.id)?.state !== 'executing') {
        this.#unknown = [...this.#unknown, row];
        return;
      }
      const outcome = await this.#call(row.id, row.name, definitionOf(row)?.http ?? null, row.params, turnReceipt(turn, turn.command, row));
      if (outcome.outcome === 'unknown') this.#unknown = [...this.#unknown, row];
      await this.#settle(row, outcome);
    } catch (error) {
      // Its row stays `executing`; the next owner of the conversation makes it `unknown`.
      this.#unknown = [...this.#unknown, row];
      logOf(turn).error(
        { err: error, invocation_id: row.id },
        'storing the result of an action call failed: the call counts as unknown and is not sent again',
      );
    }
  }

  async #settle(row: InvocationRow, outcome: ActionOutcome): Promise<void> {
    const { command, db, services } = this.#turn;
    const change = settleExecution(row, outcome);
    if (change === null) return;
    const settlements = [{ change, card: settledCard(db, change) }];
    await services.storage.write(command.caller.organisationId, 'settleInvocations', { settlements, nowMs: services.nowMs() });
  }

  async #call(
    invocationId: string,
    name: string,
    definition: ActionDefinition | null,
    params: Readonly<Record<string, unknown>>,
    receipt: string | undefined,
    signal?: AbortSignal,
  ): Promise<ActionOutcome> {
    const { command, redaction, services } = this.#turn;
    if (definition === null) return { outcome: 'failed', error: 'The action is not available any more.' };
    const startedMs = services.nowMs();
    const { appId, organisationId } = command.caller;
    const input = { organisationId, appId, definition, invocationId, params: redaction.restore(params), userToken: command.userToken };
    const outcome = await services.runAction({ ...input, receipt, ...(signal === undefined ? {} : { signal }) });
    const outage = outcome.outcome === 'succeeded' ? undefined : outcome.outage;
    const failing = outage === undefined ? undefined : `The last calls all failed, ${name} the latest: ${outage}`;
    services.storage.conditions.tried('backend_failing', appId, failing);
    this.isTokenRefused ||= outcome.outcome !== 'succeeded' && outcome.isTokenRefused === true;
    logOf(this.#turn).info(
      { invocation_id: invocationId, action: name, outcome: outcome.outcome, ms: services.nowMs() - startedMs },
      'http action',
    );
    // An endpoint's answer is data: whole numbers are redacted, too.
    if (outcome.outcome !== 'succeeded') return { outcome: outcome.outcome, error: await redaction.redact(outcome.error, true) };
    return { outcome: 'succeeded', result: JSON.stringify(await redaction.redact(JSON.parse(outcome.result) as unknown, true)) };
  }

  #signal(): AbortSignal {
    if (this.#isOver) return AbortSignal.abort();
    this.#reading ??= new AbortController();
    return this.#reading.signal;
  }

  /** Runs a read; its row is written with the turn's next commit. Never rejects for what the app's server does. */
  async read({ call, action, definition, params }: ServerRead): Promise<{ readonly row: NewInvocation; readonly answer: string }> {
    const { services } = this.#turn;
    const id = mint(services, 'inv');
    const outcome = await this.#call(id, action.name, definition, params, undefined, this.#signal());
    const succeeded = outcome.outcome === 'succeeded';
    const row: NewInvocation = {
      id,
      callId: call.id,
      name: action.name,
      params: JSON.stringify(params),
      risk: 'read',
      executor: 'server',
      timeoutMs: action.timeoutMs,
      state: succeeded ? 'succeeded' : 'failed',
      blockId: null,
      expiresAtMs: null,
      result: succeeded ? outcome.result : null,
      error: succeeded ? null : outcome.error,
      settledAtMs: services.nowMs(),
    };
    const answer = succeeded
      ? fence(`result of ${action.name}`, outcome.result)
      : `${action.name} failed: ${fence('error', outcome.error)}`;
    return { row, answer };
  }

  /** The turn has ended, so reads that are out are of no use. Writes are never cut off. */
  abortReads(): void {
    this.#isOver = true;
    this.#reading?.abort();
  }
}
