/** Answers made up by chance, as the servers of the three wires stream them: the order of keys and events is that of their makers. */
import type { Dice } from '../../support/seeded.ts';

export interface MadeUpCall {
  readonly id: string;
  readonly name: string;
  /** Its arguments as JSON, cut as they come. */
  readonly pieces: readonly string[];
}

export interface MadeUp {
  readonly texts: readonly string[];
  readonly calls: readonly MadeUpCall[];
  readonly thinks: boolean;
  readonly end: 'stop' | 'length';
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number; readonly reasoning: number };
}

const WORDS = [
  'Hello',
  ' there',
  ' “friend”',
  ' 🦜',
  '\n\n',
  ' a "quote"',
  ' back\\slash',
  ' Grüße',
  '\u2028',
  '{"text":"x"}',
  ' delta',
  '\u0001',
  ' 👩‍🚀',
];
const NAMES = ['find_order', 'kpi_tiles', 'search_knowledge'];

function cut(text: string, dice: Dice): string[] {
  const letters = Array.from(text);
  const pieces: string[] = [];
  while (letters.length > 0) pieces.push(letters.splice(0, dice.between(1, 9)).join(''));
  return pieces;
}

export function madeUp(dice: Dice): MadeUp {
  const end = dice.below(4) === 0 ? 'length' : 'stop';
  const args = () => JSON.stringify({ id: dice.below(999), said: dice.pick(WORDS), list: [dice.pick(WORDS)] });
  return {
    texts: Array.from({ length: dice.below(30) }, () => dice.pick(WORDS)),
    calls: Array.from({ length: end === 'length' ? 0 : dice.below(4) }, (_, n) => ({
      id: `call_${n}_${dice.below(999)}`,
      name: dice.pick(NAMES),
      pieces: cut(args(), dice),
    })),
    thinks: dice.below(2) === 0,
    end,
    usage: { input: dice.between(50, 900), cached: dice.below(50), output: dice.between(20, 400), reasoning: dice.below(20) },
  };
}

export const argumentsOf = ({ pieces }: MadeUpCall) => pieces.join('');

export function completionStream({ texts, calls, thinks, end, usage }: MadeUp): string {
  const line = (chunk: object) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'm', ...chunk })}\n\n`;
  const delta = (fields: object, finish: string | null = null) =>
    line({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }], usage: null, obfuscation: 'xY7' });
  const call = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] });
  // Calls at once come in turns.
  const longest = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
  const pieces = Array.from({ length: longest }, (_, at) =>
    calls.flatMap((one, index) => (at < one.pieces.length ? [call(index, { function: { arguments: one.pieces[at] } })] : [])),
  );
  return [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...(thinks ? [delta({ reasoning_content: 'I wonder.' })] : []),
    ...texts.map((content) => delta({ content })),
    ...calls.map(({ id, name }, index) => call(index, { id, type: 'function', function: { name, arguments: '' } })),
    ...pieces.flat(),
    delta({}, end === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'),
    line({
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: usage.cached },
        completion_tokens_details: { reasoning_tokens: usage.reasoning },
      },
    }),
    'data: [DONE]\n\n',
  ].join('');
}

export function responseStream({ texts, calls, thinks, end, usage }: MadeUp, numberFirst: boolean): string {
  let number = 0;
  const line = (type: string, fields: object) => {
    const sequence_number = number++;
    const event = numberFirst ? { type, sequence_number, ...fields } : { type, ...fields, sequence_number };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    model: 'm',
    error: null,
    tools: [],
    parallel_tool_calls: true,
  };
  const output: object[] = [];
  const item = (begun: object, whole: object, inner: (at: number) => string[]) => {
    const output_index = output.length;
    output.push(whole);
    const added = line('response.output_item.added', { output_index, item: begun });
    return [added, ...inner(output_index), line('response.output_item.done', { output_index, item: whole })];
  };
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [] };
  const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' };
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const text = texts.join('');
  return [
    line('response.created', { response: { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null } }),
    ...(thinks ? item(reasoning, reasoning, () => []) : []),
    ...(texts.length === 0
      ? []
      : item({ ...message, status: 'in_progress', content: [] }, { ...message, content: [part(text)] }, (output_index) => {
          const place = { item_id: 'msg_1', output_index, content_index: 0 };
          return [
            line('response.content_part.added', { ...place, part: part('') }),
            ...texts.map((delta) => line('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'xY7' })),
            line('response.output_text.done', { ...place, text, logprobs: [] }),
            line('response.content_part.done', { ...place, part: part(text) }),
          ];
        })),
    ...calls.flatMap((one, nth) => {
      const call = { id: `fc_${nth}`, type: 'function_call', status: 'completed', call_id: one.id, name: one.name };
      return item({ ...call, arguments: '' }, { ...call, arguments: argumentsOf(one) }, (output_index) => [
        ...one.pieces.map((delta) => line('response.function_call_arguments.delta', { item_id: call.id, output_index, delta })),
        line('response.function_call_arguments.done', { item_id: call.id, output_index, arguments: argumentsOf(one) }),
      ]);
    }),
    line(end === 'length' ? 'response.incomplete' : 'response.completed', {
      response: {
        ...response,
        status: end === 'length' ? 'incomplete' : 'completed',
        incomplete_details: end === 'length' ? { reason: 'max_output_tokens' } : null,
        output,
        usage: {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.input + usage.output,
        },
      },
    }),
  ].join('');
}

export function messageStream({ texts, calls, thinks, end, usage }: MadeUp): string {
  const line = (type: string, fields: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]) => {
    const at = index++;
    return [
      line('content_block_start', { index: at, content_block }),
      ...deltas.map((delta) => line('content_block_delta', { index: at, delta })),
      line('content_block_stop', { index: at }),
    ];
  };
  const counts = {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
  };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null };
  return [
    line('message_start', { message: { ...message, usage: { ...counts, output_tokens: 1 } } }),
    ...(thinks
      ? block({ type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking: 'I wonder.' },
          { type: 'signature_delta', signature: 'c2ln' },
        ])
      : []),
    line('ping'),
    ...(texts.length === 0
      ? []
      : block(
          { type: 'text', text: '' },
          texts.map((text) => ({ type: 'text_delta', text })),
        )),
    ...calls.flatMap(({ id, name, pieces }) =>
      block(
        { type: 'tool_use', id, name, input: {} },
        ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ),
    ),
    line('message_delta', {
      delta: { stop_reason: end === 'length' ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    line('message_stop'),
  ].join('');
}
