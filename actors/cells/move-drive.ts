/**
 * Drives one move from step to step, on one node of the cell that the organisation leaves (CELL-11).
 *
 * Invariants: a step is committed before the next is begun, on the row as it was: of two drivers of one move only one succeeds.
 * Before the map is switched, a move that makes no progress is aborted; after that its steps are retried until they succeed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { machineGraph } from '../../machines/graph.ts';
import { type OrganisationMoveEffect, type OrganisationMoveEvent, organisationMove } from '../../machines/organisation-move.ts';
import { type Stepper, stepper } from '../../machines/step.ts';
import { MOVE_STEPS, type MoveRow, type MoveStep, type MoveTrace, readMove } from '../../storage/moving/moves.ts';
import { readSeal } from '../../storage/moving/seal.ts';
import { takenTrace } from '../taken-trace.ts';
import { MoveRefused, type MoveStepServices, type MoveSteps } from './move-steps.ts';

export interface MoveTimes {
  /** How often a driver notes in the row that it is alive. */
  readonly beatMs: number;
  /** After this long without such a note another node resumes the move. */
  readonly abandonedMs: number;
  /** How often a node checks for such moves. */
  readonly lookMs: number;
  /** How long turns get to end before the file is sealed. */
  readonly quietMs: number;
  /** Between two tries of a step: doubled from the first to the last. */
  readonly retryMs: readonly [first: number, last: number];
  /** An organisation takes no writes meanwhile: a step that fails for this long before the map is switched aborts the move. */
  readonly giveUpMs: number;
}

export const MOVE_TIMES: MoveTimes = {
  beatMs: 500,
  abandonedMs: 2_500,
  lookMs: 500,
  quietMs: 30_000,
  retryMs: [200, 5_000],
  giveUpMs: 60_000,
};

export interface MovesOptions extends Omit<MoveStepServices, 'quietMs'> {
  /** Called when the organisation lives on the other cell: its requests and streams go there. */
  onLeft(organisationId: string): void;
  /** Called when a move was aborted and the organisation takes writes again: what was due meanwhile is checked. */
  onStayed(organisationId: string): void;
  readonly times?: Partial<MoveTimes>;
}

/** What a row shows of an error. */
const ERROR_MAX_CHARS = 500;

type Effect = OrganisationMoveEffect['type'];

function moveMachine(state: MoveStep): Stepper<typeof organisationMove> {
  return stepper(organisationMove, { stored: { state, context: {} } });
}

/** Takes the steps that the machine made since the last commit (TRACE-1); null when it made none. */
function moveTrace(machine: Stepper<typeof organisationMove>): MoveTrace | null {
  const taken = takenTrace(organisationMove, machine);
  return taken === null ? null : { ...taken, definition: JSON.stringify(machineGraph(organisationMove)) };
}

/** The step to `aborted` from each step of a move that can be aborted: only the transaction knows at which one the move is. */
export function abortTraces(): Partial<Record<MoveStep, MoveTrace>> {
  const traces: Partial<Record<MoveStep, MoveTrace>> = {};
  for (const step of MOVE_STEPS) {
    const machine = moveMachine(step);
    if (step === 'aborted' || machine.send({ type: 'move.aborted' }).state !== 'aborted') continue;
    const trace = moveTrace(machine);
    if (trace !== null) traces[step] = trace;
  }
  return traces;
}

/** One move, driven by this node until the move ends, another driver is ahead, or the node stops. */
export class MoveDrive {
  readonly #options: MovesOptions;
  readonly #times: MoveTimes;
  readonly #steps: MoveSteps;
  readonly #signal: AbortSignal;
  readonly #machine: Stepper<typeof organisationMove>;
  #move: MoveRow;

  constructor(options: MovesOptions, times: MoveTimes, steps: MoveSteps, signal: AbortSignal, move: MoveRow) {
    this.#options = options;
    this.#times = times;
    this.#steps = steps;
    this.#signal = signal;
    this.#move = move;
    this.#machine = moveMachine(move.step);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const beat = setInterval(() => void this.#note(), this.#times.beatMs).unref();
    try {
      let effect = this.#machine.send({ type: 'move.resumed' }).effects[0]?.type;
      while (effect !== undefined) effect = await this.#next(effect);
    } catch (error) {
      if (!this.#signal.aborted)
        this.#options.log.error(
          { err: error, move_id: this.#move.moveId },
          'this node stopped driving a move because of an error: a node takes it over within seconds',
        );
    } finally {
      clearInterval(beat);
    }
  }

  /** Does one step and commits it. Returns the next effect; undefined: none for this node. */
  async #next(effect: Effect): Promise<Effect | undefined> {
    const event = await this.#performed(effect);
    if (event === 'given up') return this.#enterAborted();
    if (event === undefined) {
      this.#tellStayed();
      return undefined;
    }
    const step = this.#machine.send(event);
    const to = step.state as MoveStep;
    if (!(await this.#commit(to))) return this.#enterAborted();
    const { organisationId, moveId, targetCell } = this.#move;
    this.#options.log.info(
      { organisation_id: organisationId, move_id: moveId, cell: targetCell, step: to },
      'moving an organisation reached its next step',
    );
    if (to === 'switched') this.#options.onLeft(organisationId);
    return step.effects[0]?.type;
  }

  #tellStayed(): void {
    const { storage, onStayed } = this.#options;
    const { organisationId } = this.#move;
    // The next move may have begun already.
    if (readSeal(storage.organisation(organisationId)) === undefined) onStayed(organisationId);
  }

  /** Retries the step until it succeeds or the move is aborted. */
  async #performed(effect: Effect): Promise<OrganisationMoveEvent | undefined | 'given up'> {
    const [first, last] = this.#times.retryMs;
    let failingSinceMs: number | undefined;
    for (let waitMs = first; ; waitMs = Math.min(waitMs * 2, last)) {
      this.#signal.throwIfAborted();
      try {
        return await this.#steps.perform(effect, this.#move, this.#signal);
      } catch (error) {
        this.#signal.throwIfAborted();
        failingSinceMs ??= performance.now();
        const isHopeless = error instanceof MoveRefused || performance.now() - failingSinceMs >= this.#times.giveUpMs;
        if (await this.#failed(error, isHopeless)) return 'given up';
      }
      await pause(waitMs, undefined, { signal: this.#signal });
    }
  }

  /** Records the error. True when the move is over for this driver: it was aborted, or another driver is ahead. */
  async #failed(error: unknown, isHopeless: boolean): Promise<boolean> {
    const { log } = this.#options;
    const { organisationId, moveId, step } = this.#move;
    const text = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_MAX_CHARS);
    log.warn(
      { err: error, organisation_id: organisationId, move_id: moveId, step },
      'moving an organisation made no progress: the step is retried, or the move aborted',
    );
    if (isHopeless && this.#machine.snapshot.can({ type: 'move.aborted' })) {
      await this.#abort(text);
      return true;
    }
    await this.#note(text);
    const now = readMove(this.#options.storage.control, organisationId);
    return now?.moveId !== moveId || now.step !== step;
  }

  async #abort(error: string): Promise<void> {
    const { storage, nowMs } = this.#options;
    const { organisationId, moveId } = this.#move;
    await storage.writeControl('abortMove', { organisationId, moveId, nowMs: nowMs(), error, traces: abortTraces() });
  }

  async #commit(to: MoveStep): Promise<boolean> {
    const { storage, cell, nowMs } = this.#options;
    const { organisationId, moveId, step: from } = this.#move;
    const ref = { organisationId, moveId, nowMs: nowMs(), trace: moveTrace(this.#machine) };
    const committed =
      to === 'switched'
        ? await storage.writeControl('switchMove', { ...ref, cell })
        : await storage.writeControl('advanceMove', { ...ref, from, to });
    if (committed) this.#move = readMove(storage.control, organisationId) ?? this.#move;
    return committed;
  }

  /**
   * The row is not where this driver left it. If the move was aborted, what this driver did last may have come after it was
   * undone, such as the seal: it is undone once more. Otherwise another driver is ahead.
   */
  #enterAborted(): Effect | undefined {
    const { organisationId, moveId } = this.#move;
    const now = readMove(this.#options.storage.control, organisationId);
    // A newer move has begun: this one was aborted before.
    if (now?.moveId === moveId && now.step !== 'aborted') return undefined;
    if (now?.moveId === moveId) this.#move = now;
    return this.#machine.send({ type: 'move.aborted' }).effects[0]?.type;
  }

  async #note(error?: string): Promise<void> {
    const { storage, nowMs } = this.#options;
    const { organisationId, moveId, step } = this.#move;
    try {
      await storage.writeControl('noteMove', { organisationId, moveId, step, nowMs: nowMs(), ...(error === undefined ? {} : { error }) });
    } catch (failure) {
      this.#options.log.warn(
        { err: failure, move_id: moveId },
        'recording that this node drives a move failed: another node may take the move over',
      );
    }
  }
}
