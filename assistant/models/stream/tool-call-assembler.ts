/** Owns the putting together of streamed tool calls: which fragment belongs to which call, ids that are missing, the bounds. */
import { randomBytes } from 'node:crypto';
import { TURN_CALLS_PER_ROUND_MAX } from '../../../protocol/limits.ts';
import type { ToolCall } from '../model.ts';

/** The largest block or action input allowed is far smaller; a model that writes on and on has lost its way. In UTF-16 units. */
export const TOOL_ARGUMENTS_MAX_CHARS = 64 * 1024;
/** Function names are 64 characters at most upstream; room for servers that prefix them. */
const TOOL_NAME_MAX_CHARS = 128;
/** Ids are echoed back in every later round; upstreams use 9 to 40 characters. */
const TOOL_CALL_ID_MAX_CHARS = 128;

interface Slot {
  id: string;
  upstreamId: string;
  name: string;
  arguments: string;
}

export interface ToolCallFragment {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  // Some servers send the arguments as the object itself.
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export class ToolCallAssembler {
  private readonly onStarted: (call: { readonly id: string; readonly name: string }) => void;
  private readonly slots: Slot[] = [];
  private readonly byIndex = new Map<number, Slot | undefined>();
  private latest: Slot | undefined;
  /** Calls beyond the number allowed for a round, left out. */
  dropped = 0;

  constructor(onStarted: (call: { readonly id: string; readonly name: string }) => void) {
    this.onStarted = onStarted;
  }

  add(fragment: ToolCallFragment): string | undefined {
    const upstreamId = typeof fragment.id === 'string' ? fragment.id : '';
    const name = typeof fragment.function?.name === 'string' ? fragment.function.name : '';
    const slot = this.slotOf(fragment.index, upstreamId, name);
    if (slot === undefined) return undefined;
    if (slot.upstreamId === '') slot.upstreamId = upstreamId;
    const piece = asText(fragment.function?.arguments);
    if (slot.arguments.length + piece.length > TOOL_ARGUMENTS_MAX_CHARS) return 'the arguments of a tool call are too long';
    slot.arguments += piece;
    if (slot.name === '' && name !== '') {
      if (name.length > TOOL_NAME_MAX_CHARS) return 'the name of a tool call is too long';
      slot.name = name;
      slot.id = this.idFor(slot);
      this.onStarted({ id: slot.id, name });
    }
    return undefined;
  }

  /** Characters of arguments, of whole calls and of others. */
  get argumentChars(): number {
    return this.slots.reduce((sum, slot) => sum + slot.arguments.length, 0);
  }

  /** In the order they began. `cutOff`: the output ended at its limit, so a call whose arguments are not whole is left out. */
  calls(cutOff: boolean): ToolCall[] {
    const complete: ToolCall[] = [];
    for (const slot of this.slots) {
      const text = slot.arguments.trim() === '' && !cutOff ? '{}' : slot.arguments;
      if (slot.name === '' || (cutOff && !isJson(text))) continue;
      complete.push({ id: slot.id, name: slot.name, arguments: text });
    }
    return complete;
  }

  private slotOf(index: unknown, upstreamId: string, name: string): Slot | undefined {
    if (typeof index === 'number' && this.byIndex.has(index)) {
      const known = this.byIndex.get(index);
      // Servers exist that number every call 0: another id with a name of its own is another call.
      const another = upstreamId !== '' && name !== '' && known !== undefined && known.upstreamId !== '' && known.upstreamId !== upstreamId;
      if (another) return this.begin(index, name);
      this.latest = known;
      return known;
    }
    if (typeof index === 'number') return this.begin(index, name);
    const same = upstreamId === '' ? undefined : this.slots.find((slot) => slot.upstreamId === upstreamId);
    if (same !== undefined) {
      this.latest = same;
      return same;
    }
    return name === '' && upstreamId === '' ? this.latest : this.begin(undefined, name);
  }

  private begin(index: number | undefined, name: string): Slot | undefined {
    let slot: Slot | undefined;
    if (this.slots.length < TURN_CALLS_PER_ROUND_MAX) {
      slot = { id: '', upstreamId: '', name: '', arguments: '' };
      this.slots.push(slot);
    } else if (name !== '') {
      this.dropped++;
    }
    // Indices beyond the kept calls need no memory: their fragments are new each time, and dropped each time.
    if (index !== undefined && (slot !== undefined || this.byIndex.has(index))) this.byIndex.set(index, slot);
    this.latest = slot;
    return slot;
  }

  private idFor(slot: Slot): string {
    const { upstreamId } = slot;
    const usable = upstreamId !== '' && upstreamId.length <= TOOL_CALL_ID_MAX_CHARS;
    const taken = this.slots.some((other) => other !== slot && other.id === upstreamId);
    return usable && !taken ? upstreamId : `call_${randomBytes(12).toString('hex')}`;
  }
}
