/** Arbitrary turns as the service tells them, for tests of whoever reads streams: events in order, with their numbers, as frames. */
import fc from 'fast-check';
import { modelBody, validateBody } from '../../../protocol/catalog/catalog.ts';
import { renderEvent, type StreamEvent } from '../../../protocol/runtime/stream-events.ts';
import { MODEL_EXAMPLES } from '../../protocol/catalog/examples.ts';

export interface Told {
  readonly seq: number;
  readonly event: StreamEvent;
}

/** Words with marks and characters of one to four bytes, and Markdown that a ready block has no more. */
const words = fc
  .array(fc.constantFrom('an order ', 'größer ', '漢字 ', '😀 ', '**so** ', '\n\n', '`x`', '<b>tag ', '[a](javascript:b) ', '\u2028'), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => `w${parts.join('')}`);

const id = (prefix: string, at: number): string => `${prefix}_${String(at).padStart(24, '0')}`;

/** Components that a model may write, with an example that is valid. */
const COMPONENT_NAMES = Object.keys(MODEL_EXAMPLES).filter((name) => name !== 'text' && name !== 'confirm_card');
/** All that the turns below have. */
export const COMPONENTS: ReadonlySet<string> = new Set(COMPONENT_NAMES);

function bodyOf(name: string, blockId: string) {
  const made = modelBody(name, MODEL_EXAMPLES[name]?.[0], { blockId });
  if (!made.ok) throw new Error(`${name}: ${JSON.stringify(made.details)}`);
  return made.body;
}

function textEvents(index: number, deltas: readonly string[]): StreamEvent[] {
  const block = { index, id: id('blk', index), block_type: 'text' };
  const made = validateBody('text', { md: deltas.join('') });
  if (!made.ok) throw new Error(JSON.stringify(made.details));
  return [
    { type: 'block.start', ...block },
    ...deltas.map((delta): StreamEvent => ({ type: 'block.delta', index, text_delta: delta })),
    { type: 'block.ready', index, block: { ...block, revision: 1, body: made.body } },
  ];
}

function componentEvents(index: number, name: string): StreamEvent[] {
  const block = { index, id: id('blk', index), block_type: name };
  return [
    { type: 'block.start', ...block },
    { type: 'block.ready', index, block: { ...block, revision: 1, body: bodyOf(name, block.id), fallback_text: 'x' } },
  ];
}

const part = fc.oneof(
  fc.array(words, { minLength: 1, maxLength: 8 }).map((deltas) => ({ deltas })),
  fc.constantFrom(...COMPONENT_NAMES).map((name) => ({ name })),
);

/** One turn: blocks, perhaps reads at its end, pings here and there. */
export const turns: fc.Arbitrary<readonly Told[]> = fc
  .record({
    parts: fc.array(part, { minLength: 1, maxLength: 5 }),
    reads: fc.nat(2),
    /** Before which event a ping comes. */
    pings: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 2 }),
  })
  .map(({ parts, reads, pings }) => {
    const start: StreamEvent = { type: 'turn.start', conversation_id: id('cnv', 1), message_id: id('msg', 1), model: 'm', request_id: 'r' };
    const blocks = parts.flatMap((each, index) => ('deltas' in each ? textEvents(index, each.deltas) : componentEvents(index, each.name)));
    const calls = Array.from({ length: reads }, (_, at) => ({ invocation_id: id('inv', at), name: 'look', params: {}, timeout_ms: 1_000 }));
    const pending = calls.map((call) => ({ ...call, risk: 'read', executor: 'client' }) as const);
    const end: StreamEvent =
      reads === 0
        ? { type: 'turn.end', status: 'completed', billable: false }
        : { type: 'turn.end', status: 'awaiting_tool_results', pending, billable: false };
    const events = [start, ...blocks, ...calls.map((call): StreamEvent => ({ type: 'action.execute', ...call })), end];
    for (const at of pings) if (at < events.length) events.splice(at, 0, { type: 'ping' });
    return events.map((event, seq) => ({ seq, event }));
  });

/** As the service writes them, after its `: open`. */
export function framesOf(told: readonly Told[]): string {
  return `: open\n\n${told.map(({ seq, event }) => renderEvent(seq, event)).join('')}`;
}
