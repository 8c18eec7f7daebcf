/** Bodies of the worst shape that a stranger or an agent may send within the bounds: as many members as are taken, and each of them wrong. */
import { CLIENT } from '../servers/service.ts';

export interface WorstBody {
  readonly name: string;
  readonly face: 'runtime' | 'setup' | 'console';
  readonly method: string;
  /** Below the base of its interface. */
  readonly path: string;
  /** Sent as it is; null: none. A function makes one for every round, where the same would change nothing the second time. */
  readonly body: string | null | ((round: number) => string);
}

/** A little under the bounds of JSON_KEYS_MAX and of the bodies. */
const UNKNOWN_KEYS = 19_000;
const ODD = '\u{1f600}';

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function mapOf<T>(count: number, make: (index: number) => T): Record<string, T> {
  return Object.fromEntries(times(count, (index) => [`name_${index}`, make(index)]));
}

/** `count` unknown keys beside what `known` has. */
function unknownKeys(known: object = {}, count = UNKNOWN_KEYS): string {
  return JSON.stringify({ ...mapOf(count, () => 0), ...known });
}

/** Up to so many characters of words that differ. */
function prose(chars: number, seed: number): string {
  let text = '';
  for (let index = 0; text.length < chars; index++)
    text += `Word${(index * 7_919 + seed) % 50_021} of line ${index}.${index % 12 === 11 ? '\n\n' : ' '}`;
  return text.slice(0, chars);
}

const wrongParam = { name: 1, description: 2, required: 'x', type: 'x', items: 'y', enum: times(50, () => null), example: {} };

function fullParam(index: number) {
  return {
    name: `param_${index}`,
    description: 'd'.repeat(200),
    required: true,
    type: 'string',
    enum: times(50, (at) => `value ${at}`),
    example: 'value 1',
  };
}

function action(index: number, params: readonly object[]) {
  return {
    external_key: `action-${index}`,
    name: `search_${index}`,
    description: 'd'.repeat(300),
    method: 'POST',
    url_template: `https://shop.example.com/api/${params.map((_, at) => `{{param.param_${at}}}`).join('/')}`,
    body_template: `{${times(200, (at) => `"k${at}":"{{param.param_${at % 20}}}"`).join(',')}}`,
    params,
  };
}

function manifestParam(values: readonly unknown[]) {
  return { type: 'string', description: 'd', required: true, enum: values, editable: true };
}

function manifest(round: number, param: object, valid: boolean): string {
  return JSON.stringify({
    sdk: 'web/1.0.0',
    manifest: {
      version: `${round}`,
      actions: times(100, (index) => ({ name: valid ? `do_${index}` : 'Do It', description: 'd', params: mapOf(8, () => param) })),
      routes: times(50, (index) => ({ name: valid ? `go_${index}` : 'Go', title: 't', params: mapOf(8, () => ({ type: 'string' })) })),
    },
  });
}

function screen(index: number, valid: boolean) {
  const param = valid
    ? { type: 'string', required: true, fromActions: times(10, (at) => `a_${at}`) }
    : { type: 1, required: 1, fromActions: times(10, () => 1) };
  return {
    name: valid ? `screen_${index}` : 'No Name',
    title: valid ? `Screen ${index}` : ' ',
    description: valid ? 'd'.repeat(300) : ' ',
    params: mapOf(8, () => param),
    file: 'f'.repeat(valid ? 300 : 301),
    deep_link: 'l'.repeat(valid ? 500 : 501),
  };
}

function screens(valid: boolean): string {
  return JSON.stringify({
    screens: times(50, (index) => screen(index, valid)),
    archive: times(50, (index) => ({ name: valid ? `gone_${index}` : 'Gone', reason: 'r'.repeat(1_000) })),
  });
}

function events(data: unknown, title: unknown = 'Read'): string {
  return JSON.stringify({ events: times(50, () => ({ step: 'discover', status: 'progress', title, detail: 'd'.repeat(2_000), data })) });
}

function knowledge(round: number, items: number, chars: number): string {
  return JSON.stringify({
    items: times(items, (index) => ({
      external_key: `page-${index}`,
      kind: 'text',
      title: `Page ${index}`,
      content: prose(chars, round * 100 + index),
    })),
  });
}

function chat(payload: object): () => string {
  return () => JSON.stringify({ turn_id: crypto.randomUUID(), client: CLIENT, ...payload });
}

const wrongForm = { form_id: 1, values: mapOf(12, () => times(100, () => 1)) };
const fullForm = { form_id: 'f', values: mapOf(12, () => times(100, () => ODD.repeat(20))) };
const CONVERSATION = 'cnv_00000000000000000000000a';
const numbers = (count: number) => times(count, () => 0);

const setup = (name: string, method: string, path: string, body: WorstBody['body']): WorstBody => ({
  name,
  face: 'setup',
  method,
  path,
  body,
});
const runtime = (name: string, path: string, body: WorstBody['body']): WorstBody => ({ name, face: 'runtime', method: 'POST', path, body });

export const WORST_BODIES: readonly WorstBody[] = [
  setup(
    '50 actions, 20 params, every field wrong',
    'POST',
    '/actions',
    JSON.stringify({ items: times(50, (index) => ({ ...action(index, []), params: times(20, () => wrongParam) })) }),
  ),
  setup(
    '50 actions, 20 params, every value wrong',
    'POST',
    '/actions',
    JSON.stringify({
      items: times(50, () => ({
        external_key: ' ',
        name: 'No',
        url_template: 'ftp://x',
        params: times(20, () => ({ name: '-', type: 'x', enum: times(50, () => 'x') })),
      })),
    }),
  ),
  setup(
    '50 actions, 20 params, 38 enum',
    'POST',
    '/actions',
    JSON.stringify({
      items: times(50, (index) =>
        action(
          index,
          times(20, fullParam).map((param) => ({ ...param, enum: param.enum.slice(0, 38) })),
        ),
      ),
    }),
  ),
  setup(
    '50 actions, long addresses',
    'POST',
    '/actions',
    JSON.stringify({
      items: times(50, (index) => ({
        ...action(index, []),
        url_template: `https://shop.example.com/${'{{param.a'.repeat(220)}`,
        body_template: `{${'"a":{'.repeat(1_600)}}`,
      })),
    }),
  ),
  setup(
    '50 actions archived',
    'POST',
    '/actions',
    JSON.stringify({ items: times(50, (index) => ({ external_key: `action-${index}`, op: 'archive' })) }),
  ),
  setup('19,000 unknown keys', 'POST', '/actions', unknownKeys()),
  setup('50 items of 380 unknown keys', 'POST', '/actions', JSON.stringify({ items: times(50, () => mapOf(380, () => 0)) })),
  setup('50 + 50, all wrong', 'POST', '/screens', screens(false)),
  setup('50 + 50', 'POST', '/screens', screens(true)),
  setup('50 with 8,000 characters of data', 'POST', '/events', events({ text: 'd'.repeat(7_900) })),
  setup('50 with data of many members', 'POST', '/events', events({ list: numbers(1_100) })),
  setup('50, all wrong', 'POST', '/events', events(1, ODD.repeat(200))),
  setup(
    'one event with 2 MB of data',
    'POST',
    '/events',
    JSON.stringify({ step: 'discover', status: 'done', data: { text: ODD.repeat(500_000) } }),
  ),
  setup('25 × 80,000 characters', 'POST', '/knowledge', (round) => knowledge(round, 25, 80_000)),
  setup('10 × 200,000 characters', 'POST', '/knowledge', (round) => knowledge(round, 10, 200_000)),
  setup('10 × 200,000 without a space', 'POST', '/knowledge', (round) =>
    JSON.stringify({
      items: times(10, (index) => ({ external_key: `p${index}`, kind: 'text', title: 't', content: `${round}`.repeat(199_000) })),
    }),
  ),
  setup(
    '25 × 80,000 blanks',
    'POST',
    '/knowledge',
    JSON.stringify({ items: times(25, (index) => ({ external_key: `b${index}`, kind: 'text', title: 't', content: ' '.repeat(80_000) })) }),
  ),
  setup(
    '2.6 × 200,000 emoji',
    'POST',
    '/knowledge',
    JSON.stringify({ items: times(2, (index) => ({ external_key: `e${index}`, kind: 'text', title: 't', content: ODD.repeat(200_000) })) }),
  ),
  setup('19,000 unknown keys', 'PUT', '/experience', unknownKeys()),
  setup('19,000 topics, suggestions', 'PUT', '/experience', JSON.stringify({ topics: numbers(25_000), suggestions: numbers(25_000) })),
  setup('2 MB of guardrails', 'PUT', '/experience', JSON.stringify({ guardrails: `Always${' \t'.repeat(900_000)}` })),
  setup('guardrails of blank lines', 'PUT', '/experience', JSON.stringify({ guardrails: `${' '.repeat(3_999)}x` })),
  setup('19,000 unknown keys', 'PUT', '/appearance', unknownKeys()),
  setup('19,000 unknown keys in theme', 'PUT', '/appearance', JSON.stringify({ theme: mapOf(UNKNOWN_KEYS, () => 0) })),
  setup(
    'files_changed 500 × 500, wrong',
    'POST',
    '/complete',
    JSON.stringify({ summary: ' ', files_changed: times(500, () => ' '.repeat(501)), human_todos: times(50, () => 1) }),
  ),
  setup('config of the largest app', 'GET', '/context', null),
  setup('status of the largest app', 'GET', '/status', null),
  runtime('100 actions × 8 × 8 enum, wrong', '/v1/apps/manifest', manifest(0, manifestParam(times(8, () => null)), false)),
  runtime('100 actions × 8 params', '/v1/apps/manifest', (round) => manifest(round, manifestParam(['a', 'b', 'c', 'd']), true)),
  runtime('100 × 20 × few enum', '/v1/apps/manifest', (round) =>
    JSON.stringify({
      sdk: 'web/1.0.0',
      manifest: {
        version: `${round}`,
        actions: times(100, (index) => ({
          name: `do_${index}`,
          description: 'd',
          params: mapOf(20, () => ({ type: 'string', enum: times(20, (at) => `${at}`) })),
        })),
      },
    }),
  ),
  runtime(
    '100 × 20 × 20 enum of the wrong type',
    '/v1/apps/manifest',
    JSON.stringify({
      sdk: 'web/1.0.0',
      manifest: {
        version: '1',
        actions: times(100, () => ({ name: '-', description: '', params: mapOf(20, () => ({ type: 1, enum: times(20, () => null) })) })),
      },
    }),
  ),
  runtime('19,000 unknown keys', '/v1/apps/manifest', unknownKeys({ sdk: 'web/1.0.0', manifest: { version: '1', actions: [] } })),
  runtime('kept unknown keys', '/v1/apps/manifest', (round) =>
    JSON.stringify({ sdk: 'web/1.0.0', manifest: { version: `${round}`, actions: [], ...mapOf(UNKNOWN_KEYS, (index) => index) } }),
  ),
  runtime('message of 4,000 emoji', '/v1/chat', chat({ message: { text: ODD.repeat(4_000) } })),
  runtime('message of 4,000 digits, to mask', '/v1/chat', chat({ message: { text: '4111 1111 1111 1111 '.repeat(200) } })),
  runtime('message of 4,000 of an address', '/v1/chat', chat({ message: { text: `${'a.'.repeat(1_000)}@${'b.'.repeat(990)}` } })),
  runtime(
    'message of 4,000 of IBANs, phones',
    '/v1/chat',
    chat({ message: { text: 'DE89370400440532013000 +49 170 1234567 '.repeat(100) } }),
  ),
  runtime('19,000 unknown keys', '/v1/chat', unknownKeys()),
  runtime('state of 250 KB', '/v1/chat', chat({ message: { text: 'a' }, context: { app_state: numbers(59_000) } })),
  runtime(
    '10 results of 16 KB',
    '/v1/chat',
    chat({
      conversation_id: CONVERSATION,
      tool_results: times(10, (index) => ({ invocation_id: `inv${index}`, status: 'ok', result: numbers(5_900) })),
    }),
  ),
  runtime(
    '10 results of 25 KB',
    '/v1/chat',
    chat({
      conversation_id: CONVERSATION,
      tool_results: times(10, () => ({ invocation_id: '', status: 'x', result: 'r'.repeat(24_000) })),
    }),
  ),
  runtime(
    'forms, all wrong',
    '/v1/chat',
    chat({ conversation_id: CONVERSATION, form_submission: wrongForm, context: { open_forms: times(3, () => wrongForm) } }),
  ),
  runtime('forms, full', '/v1/chat', chat({ conversation_id: CONVERSATION, form_submission: fullForm })),
  runtime('traits of 8 KB', '/v1/identify', JSON.stringify({ external_user_id: 'p', traits: mapOf(500, () => 1) })),
  runtime('traits of 250 KB', '/v1/identify', JSON.stringify({ external_user_id: 'p', traits: mapOf(15_000, () => 1) })),
  { name: '60,000 members', face: 'console', method: 'POST', path: '/orgs', body: JSON.stringify({ name: numbers(59_000) }) },
  { name: '19,000 unknown keys', face: 'console', method: 'POST', path: '/orgs', body: unknownKeys() },
  {
    name: 'nested 60 deep',
    face: 'console',
    method: 'POST',
    path: '/orgs',
    body: `[${times(500, () => '['.repeat(60) + ']'.repeat(60)).join(',')}]`,
  },
];
