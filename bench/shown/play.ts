/** Plays scenarios through the running program. Its model is a server of this process, which keeps what it was asked. */
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { createClient, HANDSHAKE, type StreamAnswer, type StreamedEvent } from '../../tests/support/client.ts';
import { PNG } from '../../tests/support/setup-agent.ts';
import type { Play, Script, UpstreamRequest } from '../../tests/support/upstream.ts';
import type { Scenario, Sent } from './scenario.ts';
import { openShop, type Shop } from './shop.ts';

export interface Played {
  readonly scenario: Scenario;
  /** What was asked after the last thing that was sent, round by round. */
  readonly requests: readonly UpstreamRequest[];
  /** How it was answered. */
  readonly events: readonly StreamedEvent[];
}

interface Place {
  readonly baseUrl: string;
  readonly operatorToken: string;
}

interface Block {
  readonly id: string;
  readonly block_type: string;
}

interface Pending {
  readonly invocation_id: string;
  readonly name: string;
}

/** A conversation before its last thing is sent, to whatever program `shop` names then. */
export interface Begun {
  readonly scenario: Scenario;
  readonly shop: Shop;
  readonly device: string;
  readonly conversation: object;
  readonly blocks: readonly Block[];
  readonly pending: readonly Pending[];
}

const SAYS_A_WORD: readonly Play[] = [{ text: 'Well.' }];

/** What is played now, one conversation at a time. */
export class Stage {
  #answers: Script = () => [];
  #requests: UpstreamRequest[] = [];
  #shop: Promise<Shop> | undefined;
  #devices = 0;

  /** For the model's server. */
  readonly script: Script = (request) => {
    this.#requests.push(request);
    return this.#answers(request, this.#requests.length - 1);
  };

  /** `live`: what answers the last thing that is sent, in place of its rounds. @throws Error where a turn fails */
  async play(at: Place, scenario: Scenario, live?: Script): Promise<Played> {
    return this.end(await this.begin(at, scenario), live);
  }

  /** A conversation up to the last thing that is sent. @throws Error where a turn fails */
  async begin(at: Place, scenario: Scenario): Promise<Begun> {
    this.#shop ??= openShop(at.baseUrl, at.operatorToken);
    const shop = await this.#shop;
    const device = (++this.#devices).toString(16).padStart(32, '0');
    let begun: Begun = { scenario, shop, device, conversation: {}, blocks: [], pending: [] };
    for (const sent of scenario.sends.slice(0, -1)) ({ begun } = await this.#send(begun, sent, {}));
    return begun;
  }

  /** Sends the last thing; `live` as in `play`. @throws Error where the turn fails */
  async end(begun: Begun, live?: Script): Promise<Played> {
    const { sends, context } = begun.scenario;
    const last = sends.at(-1) as Sent;
    const { answer } = await this.#send(begun, last, context === undefined ? {} : { context }, live);
    return { scenario: begun.scenario, requests: this.#requests, events: answer.events };
  }

  async #send(begun: Begun, sent: Sent, more: object, live?: Script): Promise<{ readonly begun: Begun; readonly answer: StreamAnswer }> {
    const { scenario, shop, device, blocks, pending } = begun;
    const client = createClient(shop.baseUrl, shop.key, device);
    const components = [...CATALOG.keys()];
    const handshake = { ...HANDSHAKE, components, manifest_hash: shop.manifestHash, locale: 'en-GB', ...scenario.client };
    this.#answers = live ?? ((_, round) => sent.rounds?.[round] ?? SAYS_A_WORD);
    this.#requests = [];
    const uploads = sent.picture === true ? { attachments: [{ upload_id: await upload(client) }] } : {};
    const answer = await client.chat({ ...begun.conversation, client: handshake, ...bodyOf(sent, blocks, pending), ...uploads, ...more });
    const end = lastEvent(answer, scenario.name);
    const shown = answer.events.flatMap(({ type, block }) => (type === 'block.ready' ? [block as Block] : []));
    // A later question leaves a card waiting that its end does not name.
    const waits = (end.pending ?? []) as readonly Pending[];
    return {
      answer,
      begun: {
        ...begun,
        conversation: { conversation_id: answer.events[0]?.conversation_id },
        blocks: [...blocks, ...shown],
        pending: waits.length > 0 ? waits : pending,
      },
    };
  }
}

/** @throws Error where the turn was refused or failed */
function lastEvent({ status, text, events }: StreamAnswer, name: string) {
  const end = events.at(-1);
  if (status !== 200 || end?.type !== 'turn.end' || end.status === 'failed')
    throw new Error(`${name} was answered ${status}: ${text.slice(-500)}`);
  return end;
}

function bodyOf({ says, chooses, submits, reports }: Sent, blocks: readonly Block[], pending: readonly Pending[]): object {
  const last = (type: string) => blocks.findLast(({ block_type }) => block_type === type)?.id;
  if (submits !== undefined) return { form_submission: { form_id: last('form'), values: submits } };
  if (reports !== undefined)
    return {
      tool_results: pending.flatMap(({ invocation_id, name }) =>
        reports[name] === undefined ? [] : [{ invocation_id, ...reports[name] }],
      ),
    };
  return { message: { text: says }, ...(chooses === undefined ? {} : { selection: { block_id: last('choice'), ids: chooses } }) };
}

async function upload({ baseUrl, headers }: ReturnType<typeof createClient>): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(PNG)], { type: 'image/png' }), 'kettle.png');
  const answer = await fetch(`${baseUrl}/v1/uploads`, { method: 'POST', headers, body: form });
  const { upload_id } = (await answer.json()) as { upload_id?: string };
  if (upload_id === undefined) throw new Error(`the picture was answered ${answer.status}`);
  return upload_id;
}
