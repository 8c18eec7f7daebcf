/** Reads the trace of one instance from its rows: the steps of all commits, in their order, as one list. */
import { chatTurn } from '../../machines/chat-turn.ts';
import type { MachineGraph } from '../../machines/graph.ts';
import { type FrameRun, type Kept, type KeptEvent, type TraceStep, unpackSteps } from '../../machines/trace.ts';
import { traceFileJson } from '../../machines/trace-file.ts';
import { machineVersion } from '../../machines/version.ts';
import { readJournal, readTurnStart } from '../../storage/conversations/turns.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import {
  type AppMachine,
  readContinuedTurn,
  readMachineDefinition,
  readMoveTrace,
  readTrace,
  readTracedTurn,
  readTurnsOfConversation,
  readTurnTrace,
  type TracedTurn,
} from '../../storage/traces/traces.ts';
import { unpackEntries } from '../turns/journal.ts';
import type { JournalEntry } from '../turns/log.ts';
import { openingStep } from '../turns/turn-rows.ts';
import { currentDefinitions } from './definitions.ts';

/** Commits whose frames are read: a turn has at most 256 blocks and some rounds. */
const JOURNAL_PIECES_MAX = 400;

interface Told extends FrameRun {
  readonly block?: string;
}

function toldIn(entry: JournalEntry): Told {
  if ('event' in entry) return { type: entry.event.type, seq: entry.seq, count: 1 };
  if ('ready' in entry) return { type: 'block.ready', seq: entry.seq, count: 1, block: entry.ready };
  return { type: 'block.delta', seq: entry.seq, count: entry.ends.length };
}

/** What a turn has said, in its order, as far as it is committed. */
function toldOf(db: Connection, turn: number): readonly Told[] {
  const told = readJournal(db, turn, 0, JOURNAL_PIECES_MAX).flatMap(({ entries }) => unpackEntries(entries).map(toldIn));
  if (told[0]?.seq === 0 || readTurnStart(db, turn) === undefined) return told;
  // The opening said that the turn starts, and nothing else.
  return [{ type: 'turn.start', seq: 0, count: 1 }, ...told];
}

function sends({ type, blockId }: KeptEvent, frame: Told): boolean {
  if (type === 'sendBlock') return frame.block === blockId;
  if (type === 'sendStart') return frame.type === 'turn.start';
  if (type === 'sendError') return frame.type === 'error';
  return type === 'endTurn' && frame.type === 'turn.end';
}

/** Frames of each step: those up to the last one that its effects send. The journal tells of the last attempt only. */
function framesOfSteps(db: Connection, turn: number, steps: readonly TraceStep[]): readonly (readonly FrameRun[])[] {
  const told = toldOf(db, turn);
  const first = steps.findLastIndex(({ event }) => event.type === 'turn.retry');
  let next = 0;
  return steps.map(({ effects }, index) => {
    if (index < first) return [];
    const last = told.findLastIndex((frame) => effects.some((effect) => sends(effect, frame)));
    const own = told.slice(next, Math.max(last + 1, next));
    next += own.length;
    return own.map(({ type, seq, count }) => ({ type, seq, count }));
  });
}

/** Commits of one instance that are read: an answer has a few, a setup session as many as an agent makes requests in a day. */
const PIECES_MAX = 5_000;

export interface InstanceTrace {
  readonly machine: string;
  readonly instance: string;
  /** The definition that made the first of these steps; `isMixed`: a later release made others. */
  readonly version: string;
  readonly isMixed: boolean;
  readonly input?: Kept;
  /** The request that opened it; null for what is not a turn. */
  readonly requestId: string | null;
  readonly steps: readonly (TraceStep & { readonly node: string })[];
}

interface Piece {
  readonly version: string;
  readonly node: string;
  readonly atMs: number;
  readonly steps: string;
}

function joined(machine: string, instance: string, requestId: string | null, pieces: readonly Piece[]): InstanceTrace | undefined {
  const [first] = pieces;
  if (first === undefined) return undefined;
  const unpacked = pieces.map(({ node, atMs, steps }) => ({ node, atMs, ...unpackSteps(steps) }));
  const input = unpacked[0]?.input;
  return {
    machine,
    instance,
    version: first.version,
    isMixed: pieces.some(({ version }) => version !== first.version),
    ...(input === undefined ? {} : { input }),
    requestId,
    steps: unpacked.flatMap(({ node, atMs, steps }, index) => {
      const committed = { commit: index + 1, atMs, frames: [] };
      return steps.map((step) => ({ ...step, committed, node }));
    }),
  };
}

/** A turn of which only its opening is committed. */
function openedTrace({ turn, requestId, runBy }: TracedTurn, opening: TraceStep): InstanceTrace {
  const version = machineVersion(chatTurn);
  return { machine: 'chat-turn', instance: String(turn), version, isMixed: false, requestId, steps: [{ ...opening, node: runBy }] };
}

/** A turn's steps with their commits and the frames that left. A plain opening leaves its step to the next commit. */
function withFrames(db: Connection, turn: number, trace: InstanceTrace, openedAtMs: number): InstanceTrace {
  const frames = framesOfSteps(db, turn, trace.steps);
  const shift = trace.steps[1]?.committed?.commit === 1 ? 1 : 0;
  const steps = trace.steps.map((step, index) => {
    const { commit, atMs } = step.committed ?? { commit: 1, atMs: openedAtMs };
    const kept = index === 0 ? { commit: 1, atMs: openedAtMs } : { commit: commit + shift, atMs };
    return { ...step, committed: { ...kept, frames: frames[index] ?? [] } };
  });
  return { ...trace, steps };
}

/** Empty when nothing is kept. Where a crash prevented the second commit, which writes a plain opening's step, the row tells it. */
function readOwnTraces(db: Connection, turn: number): InstanceTrace[] {
  const row = readTracedTurn(db, turn);
  if (row === undefined) return [];
  const pieces = readTurnTrace(db, turn, PIECES_MAX);
  const instances = ['', ...new Set(pieces.map(({ invocation }) => invocation).filter((id) => id !== ''))];
  return instances.flatMap((id) => {
    const machine = id === '' ? 'chat-turn' : 'invocation';
    const own = pieces.filter(({ invocation }) => invocation === id);
    const opening = openingStep(row.openedAtMs);
    const trace = joined(machine, id === '' ? String(turn) : id, row.requestId, own);
    // Nothing is committed yet but the opening, or nothing is kept any more.
    if (trace === undefined) return row.state === opening.to ? [withFrames(db, turn, openedTrace(row, opening), row.openedAtMs)] : [];
    const [first] = trace.steps;
    const lacksOpening = id === '' && first !== undefined && first.from === opening.to;
    const whole = lacksOpening ? { ...trace, steps: [{ ...opening, node: first.node }, ...trace.steps] } : trace;
    return [id === '' ? withFrames(db, turn, whole, row.openedAtMs) : whole];
  });
}

/** The traces of a turn and its calls; of a continuation also of the calls it goes on with, which their own turn asked for. */
export function readTurnTraces(db: Connection, turn: number): InstanceTrace[] {
  const own = readOwnTraces(db, turn);
  const continued = own.length === 0 ? undefined : readContinuedTurn(db, turn);
  const calls = continued === undefined ? [] : readOwnTraces(db, continued).filter(({ machine }) => machine === 'invocation');
  return [...own, ...calls];
}

export function readConversationTraces(db: Connection, appId: string, conversationId: string, limit: number): InstanceTrace[] {
  return readTurnsOfConversation(db, appId, conversationId, limit).flatMap((turn) => readOwnTraces(db, turn));
}

export function readInstanceTrace(db: Connection, appId: string, machine: AppMachine, instance: string): InstanceTrace | undefined {
  const pieces = readTrace(db, { appId, machine, instance }, PIECES_MAX).map((piece) => ({ ...piece, node: '' }));
  return joined(machine, instance, null, pieces);
}

export function readMoveSteps(control: Connection, moveId: string): InstanceTrace | undefined {
  const pieces = readMoveTrace(control, moveId, PIECES_MAX).map((piece) => ({ ...piece, node: '' }));
  return joined('organisation-move', moveId, null, pieces);
}

function definitionOf(db: Connection, version: string): MachineGraph | undefined {
  const current = currentDefinitions().find((each) => each.version === version)?.definition;
  const json = current ?? readMachineDefinition(db, version);
  return json === undefined ? undefined : (JSON.parse(json) as MachineGraph);
}

export function instanceDefinition(db: Connection, { version }: Pick<InstanceTrace, 'version'>): MachineGraph | undefined {
  return definitionOf(db, version);
}

export function traceJsonOf(db: Connection, { machine, version, instance, input, steps }: InstanceTrace) {
  const definition = definitionOf(db, version);
  return traceFileJson({
    ...{ machine, version, instance, steps },
    ...(definition === undefined ? {} : { definition }),
    ...(input === undefined ? {} : { input }),
  });
}
