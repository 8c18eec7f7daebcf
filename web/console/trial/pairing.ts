/** What the stream of a pairing tells, made into turns. Everything in it was written by somebody else, and is text. */
import type { StreamFrame } from '../api/follow.ts';

export interface Pairing {
  readonly id: string;
  readonly state: 'open' | 'claimed' | 'expired' | 'over';
  readonly device: string | null;
  readonly code_expires_at: string;
  readonly watched_until: string | null;
}

export interface WatchedTurn {
  readonly turnId: string;
  /** What the person said; '' where results of actions came. */
  readonly said: string;
  readonly answer: string;
  /** How it ended; undefined while it goes on. */
  readonly ended: string | undefined;
}

/** Turns that are shown: the newest of two hours of somebody's use. */
const TURNS_MAX = 100;

interface WireBlock {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly fallback_text?: string;
}

interface OpenedFrame {
  readonly turn_id: string;
  readonly message: { readonly blocks: readonly WireBlock[] } | null;
}

interface TurnFrame {
  readonly turn_id: string;
  readonly event: { readonly type: string; readonly text_delta?: string; readonly status?: string; readonly block?: WireBlock };
}

function textOf({ body, fallback_text: fallback }: WireBlock): string {
  return typeof body?.md === 'string' ? body.md : (fallback ?? '');
}

function withEvent(turn: WatchedTurn, { event }: TurnFrame): WatchedTurn {
  if (event.type === 'block.ready' && event.block !== undefined) {
    return { ...turn, answer: [turn.answer, textOf(event.block)].filter((text) => text !== '').join('\n') };
  }
  return event.type === 'turn.end' ? { ...turn, ended: event.status ?? 'over' } : turn;
}

interface WatchedBuild {
  readonly pairing?: Pairing;
  readonly turns: readonly WatchedTurn[];
}

export function withPairingFrame(build: WatchedBuild, { event, data }: StreamFrame): WatchedBuild {
  const { turns } = build;
  if (event === 'pairing') return { pairing: data as Pairing, turns };
  if (event === 'turn.opened') {
    const { turn_id: turnId, message } = data as OpenedFrame;
    if (turns.some((turn) => turn.turnId === turnId)) return build;
    const said = message === null ? '' : message.blocks.map(textOf).join('\n');
    return { ...build, turns: [...turns, { turnId, said, answer: '', ended: undefined }].slice(-TURNS_MAX) };
  }
  if (event !== 'turn') return build;
  const frame = data as TurnFrame;
  return { ...build, turns: turns.map((turn) => (turn.turnId === frame.turn_id ? withEvent(turn, frame) : turn)) };
}
