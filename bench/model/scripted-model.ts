/**
 * What the fake model answers where an answer is more than text: it calls what a model would call, and goes on once its calls were
 * answered. Decided from each request alone, and refused where the request lacks what the call needs, so that no turn is whole by
 * accident. Pure.
 */
import { callChunks, completionChunk } from '../../tests/support/completions.ts';

/** Says a token, shows a list and calls READ_ACTION; says a token once that was answered. */
export const LIST_ACTION_MODEL = 'fake-list-action';
/** Searches the app's knowledge for the person's words; says a token once passages were found. */
export const SEARCH_MODEL = 'fake-search';

export const LIST_COMPONENT = 'item_list';
export const READ_ACTION = 'get_order_status';
const SEARCH_TOOL = 'search_knowledge';

/** The token that ends each script, as all words of the fake model. */
const WORD = 'the ';
/** A search is for a few words. */
const QUERY_MAX_CHARS = 100;

interface ScriptedAnswer {
  /** Events of the stream, one socket write each. */
  readonly writes: readonly string[];
  readonly finish: 'stop' | 'tool_calls';
}

export class NotInScript extends Error {}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type Script = (request: ChatRequest) => ScriptedAnswer;

const ORDERS = {
  title: 'Your orders',
  layout: 'list',
  items: [
    { id: 'chair', title: 'Oak chair', subtitle: 'Ordered on Monday', badge: 'New' },
    { id: 'table', title: 'Round table', subtitle: 'Ordered last week' },
    { id: 'lamp', title: 'Reading lamp', subtitle: 'Ordered last week' },
  ],
};

/** What the calls were answered that came after the person's last message. */
function resultsOf({ messages }: ChatRequest): readonly string[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(asked + 1).flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
  // The result of a component says only that it was shown.
  return results.filter((result) => !result.startsWith('Shown.'));
}

function requireTools({ tools = [] }: ChatRequest, ...names: readonly string[]): void {
  const missing = names.find((name) => !tools.some(({ function: { name: offered } }) => offered === name));
  if (missing !== undefined) throw new NotInScript(`the request offers no tool ${missing}`);
}

/** @param wanted what the only result has to hold */
function afterResult(model: string, results: readonly string[], wanted: string): ScriptedAnswer {
  const [result = '', ...more] = results;
  if (more.length > 0 || !result.includes(wanted))
    throw new NotInScript(`not one result with "${wanted}": ${results.join(' / ').slice(0, 200)}`);
  return { writes: [completionChunk(model, { content: WORD })], finish: 'stop' };
}

const SCRIPTS: Readonly<Record<string, Script>> = {
  [LIST_ACTION_MODEL](request) {
    const model = LIST_ACTION_MODEL;
    const results = resultsOf(request);
    if (results.length > 0) return afterResult(model, results, `result of ${READ_ACTION}`);
    requireTools(request, LIST_COMPONENT, READ_ACTION);
    const list = callChunks(model, { index: 0, id: 'call_list', name: LIST_COMPONENT, args: ORDERS });
    const action = callChunks(model, { index: 1, id: 'call_action', name: READ_ACTION, args: { order: 'the oak chair' } });
    return { writes: [completionChunk(model, { content: WORD }), list.join(''), action.join('')], finish: 'tool_calls' };
  },
  [SEARCH_MODEL](request) {
    const model = SEARCH_MODEL;
    const results = resultsOf(request);
    // Passages come as blocks with this label; a search that finds nothing says so in words.
    if (results.length > 0) return afterResult(model, results, ' knowledge 1>>');
    requireTools(request, SEARCH_TOOL);
    const said = request.messages.findLast(({ role }) => role === 'user');
    const query = String(said?.content ?? '').slice(0, QUERY_MAX_CHARS);
    return { writes: callChunks(model, { id: 'call_search', name: SEARCH_TOOL, args: { query } }), finish: 'tool_calls' };
  },
};

/** The answer of the model of this name to a request's body; undefined: no script has the name. @throws NotInScript */
export function scriptedAnswer(model: string, body: string): ScriptedAnswer | undefined {
  const script = Object.hasOwn(SCRIPTS, model) ? SCRIPTS[model] : undefined;
  if (script === undefined) return undefined;
  return script(JSON.parse(body) as ChatRequest);
}
