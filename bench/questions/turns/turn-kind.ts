/**
 * What a kind of turns is: what has to be there before the clock starts, what a client sends and answers, what has to come. Holds the plain
 * turn of W3, beside which the others are measured.
 */
import type { ReadTurn, TurnClient } from '../../load/turn-client.ts';
import { type Asker, mintDevice } from '../../loadtest/service-api.ts';
import { LIST_ACTION_MODEL, LIST_COMPONENT, READ_ACTION, SEARCH_MODEL } from '../../model/scripted-model.ts';
import { textSource } from '../../model/text.ts';
import type { Console, LiveApp } from '../../servers/service.ts';
import { copyConversation, fitting } from './copied-conversations.ts';

/** A running service with an app in it that has nothing yet. */
interface TurnStage {
  readonly app: LiveApp;
  readonly streams: number;
  /** A look at the rig: less is prepared. */
  readonly quick: boolean;
  readonly operator: Console;
  client(): TurnClient;
  /** Works on the organisation's file while the service is stopped, and starts it again with this model. */
  withFile(model: string, work: (file: string) => void): Promise<void>;
  /** What the app's client draws. */
  readonly components: ReadonlySet<string>;
}

/** Milliseconds from sending the message. */
export type TurnTimes = ReturnType<typeof timesOf>;

/** One turn of the stream of this number. @throws Error that says why it was not whole */
export type PlayTurn = (client: TurnClient, stream: number) => Promise<TurnTimes>;

export interface TurnKind {
  readonly name: string;
  readonly what: string;
  readonly model: string;
  /** Requests to the model in one turn, a continuation included. */
  readonly rounds: number;
  /** What its client draws beside what clients of the server draw. */
  readonly components: readonly string[];
  /** The model while the kind is prepared, where it is another one. */
  readonly preparedBy?: string;
  /** What a round may cost, as a multiple of W3's turn; undefined: it is W3. */
  readonly target: number | undefined;
  /** About how long starting its server and preparing it take. */
  readonly preparedInS: number;
  prepare(stage: TurnStage): Promise<PlayTurn>;
}

/** A token of the fake model, and the end. */
const ONE_TOKEN = 'text 4, completed';
export const HELLO = { message: { text: 'Hello' } };

/** Times of a turn that was over when `last` was read. */
export function timesOf({ sentAtMs, firstDeltaAtMs }: ReadTurn, { endedAtMs }: ReadTurn) {
  return { firstMs: firstDeltaAtMs - sentAtMs, wholeMs: endedAtMs - sentAtMs };
}

/** A device for each stream, as each connection of the load client is one. */
function askersOf({ app, streams }: TurnStage, manifestHash?: string): readonly Asker[] {
  return Array.from({ length: streams }, () => ({ key: app.liveKey, device: mintDevice(), manifestHash }));
}

/** The one of them that sends the turns of this stream. */
function askerOf(askers: readonly Asker[], stream: number): Asker {
  return askers[stream % askers.length] as Asker;
}

export const PLAIN: TurnKind = {
  name: 'W3',
  what: '1-token turns',
  model: 'fake-1-0',
  rounds: 1,
  components: [],
  target: undefined,
  preparedInS: 2,
  async prepare(stage) {
    const askers = askersOf(stage);
    return async (client, stream) => {
      const request = { asker: askerOf(askers, stream), components: stage.components, conversationId: undefined, say: HELLO };
      const turn = await client.turn(request, ONE_TOKEN);
      return timesOf(turn, turn);
    };
  },
};

const CHUNKS = 1_000;
/** An article of some 25 chunks. */
const ARTICLE_CHARS = 20_000;
/** About what a chunk takes: the last articles are as long as what is missing. */
const CHUNK_CHARS = 800;
const KNOWLEDGE_SEED = 17;

/** Fills the app's knowledge; returns the headings of its articles, which are what people ask for. */
async function publish({ operator, app }: TurnStage): Promise<readonly string[]> {
  const source = textSource(KNOWLEDGE_SEED);
  const headings: string[] = [];
  for (let missing = CHUNKS, key = 0; missing > 0; key++) {
    const { title, text } = source.document(Math.min(ARTICLE_CHARS, missing * CHUNK_CHARS));
    const item = { external_key: `article-${key}`, kind: 'text', title, content: text };
    const answer = await operator.call('POST', `/apps/${app.appId}/knowledge`, { items: [item] });
    const { results } = answer as { results: readonly { readonly ok: boolean; readonly chunks?: number }[] };
    const chunks = results[0]?.chunks ?? 0;
    if (results[0]?.ok !== true || chunks === 0) throw new Error(`an article was not indexed: ${JSON.stringify(results)}`);
    missing -= chunks;
    headings.push(...Array.from(text.matchAll(/^## (.+)\n\n/gm), ([, heading = '']) => heading));
  }
  return headings;
}

export const turnWithSearch: TurnKind = {
  name: 'W9',
  what: `a search in ${CHUNKS.toLocaleString('en-US')} chunks that the model asks for, then its answer`,
  model: SEARCH_MODEL,
  rounds: 2,
  components: [],
  target: 2,
  preparedInS: 4,
  async prepare(stage) {
    const headings = await publish(stage);
    const askers = askersOf(stage);
    let asked = 0;
    return async (client, stream) => {
      const text = `How do I ${headings[asked++ % headings.length]}?`;
      const request = {
        asker: askerOf(askers, stream),
        components: stage.components,
        conversationId: undefined,
        say: { message: { text } },
      };
      const turn = await client.turn(request, ONE_TOKEN);
      return timesOf(turn, turn);
    };
  },
};

/** Turns that were, when the clock starts. */
const EARLIER_TURNS = 199;
/** Each is asked a few dozen times in a run: its 200th turn and the next ones. */
const CONVERSATIONS = 512;
const QUICK_CONVERSATIONS = 64;
/** What one takes of the disk, for a guess beforehand: a message of each side, with its rows, for each turn. */
const CONVERSATION_BYTES = EARLIER_TURNS * 3_000;
const PERSONS_SEED = 13;

/** Has one conversation with the service; returns its id. */
async function converse(stage: TurnStage): Promise<string> {
  const [asker] = askersOf({ ...stage, streams: 1 });
  const client = stage.client();
  const person = textSource(PERSONS_SEED);
  let conversationId: string | undefined;
  try {
    for (let turn = 0; turn < EARLIER_TURNS; turn++) {
      const request = {
        asker: asker as Asker,
        components: stage.components,
        conversationId,
        say: { message: { text: person.question() } },
      };
      const { events } = await client.turn(request, 'text 400, completed');
      for (const event of events) if (event.type === 'turn.start') conversationId = event.conversation_id;
    }
  } finally {
    client.close();
  }
  return conversationId ?? '';
}

export const longConversation: TurnKind = {
  name: 'W8',
  what: `1-token turns of conversations that had ${EARLIER_TURNS} turns`,
  model: PLAIN.model,
  preparedBy: 'fake-100-0',
  rounds: 1,
  components: [],
  target: 1.3,
  preparedInS: 10,
  async prepare(stage) {
    const original = await converse(stage);
    const known: { readonly asker: Asker; readonly id: string }[] = [];
    const wanted = stage.quick ? [QUICK_CONVERSATIONS] : [QUICK_CONVERSATIONS, CONVERSATIONS];
    const { sizes, leftOut } = fitting(wanted, (each) => Math.max(...each) * CONVERSATION_BYTES);
    for (const line of leftOut) process.stderr.write(`W8: ${line}\n`);
    await stage.withFile(this.model, (file) =>
      copyConversation(file, original, sizes.at(-1) ?? QUICK_CONVERSATIONS, ({ id, device }) =>
        known.push({ id, asker: { key: stage.app.liveKey, device, manifestHash: undefined } }),
      ),
    );
    // A stream has conversations of its own, and takes them in turns.
    const next = Array.from({ length: stage.streams }, (_, stream) => stream);
    return async (client, stream) => {
      const at = next[stream] ?? stream;
      next[stream] = (at + stage.streams) % known.length;
      const { asker, id } = known[at] as (typeof known)[number];
      const turn = await client.turn({ asker, components: stage.components, conversationId: id, say: HELLO }, ONE_TOKEN);
      for (const event of turn.events)
        if (event.type === 'turn.start' && event.conversation_id !== id) throw new Error('the conversation was not continued');
      return timesOf(turn, turn);
    };
  },
};

const MANIFEST = {
  version: 'bench-1',
  actions: [
    {
      name: READ_ACTION,
      description: 'Looks up where an order is. Call it when the person asks about the status or delivery of an order.',
      risk: 'read',
      params: { order: { type: 'string', description: 'What was ordered', required: true } },
    },
  ],
};
const ACTION_RESULT = { status: 'shipped', carrier: 'the usual one', eta: 'tomorrow' };
const CALLS = `text 4, ${LIST_COMPONENT}, calls ${READ_ACTION}, awaiting_tool_results`;

function answerTo({ events }: ReadTurn): { readonly conversationId: string; readonly say: Readonly<Record<string, unknown>> } {
  let conversationId = '';
  let invocationId = '';
  for (const event of events) {
    if (event.type === 'turn.start') conversationId = event.conversation_id;
    else if (event.type === 'action.execute') invocationId = event.invocation_id;
  }
  return { conversationId, say: { tool_results: [{ invocation_id: invocationId, status: 'ok', result: ACTION_RESULT }] } };
}

export const listAndAction: TurnKind = {
  name: 'W7',
  what: 'text, a list and a read action, answered by the client, and the continuation',
  model: LIST_ACTION_MODEL,
  rounds: 2,
  components: [LIST_COMPONENT],
  target: 2,
  preparedInS: 2,
  async prepare(stage) {
    const registration = stage.client();
    const manifestHash = await registration.register(stage.app.liveKey, MANIFEST);
    registration.close();
    const askers = askersOf(stage, manifestHash);
    return async (client, stream) => {
      const request = { asker: askerOf(askers, stream), components: stage.components, conversationId: undefined, say: HELLO };
      const turn = await client.turn(request, CALLS);
      const continuation = await client.turn({ ...request, ...answerTo(turn) }, ONE_TOKEN);
      return timesOf(turn, continuation);
    };
  },
};
