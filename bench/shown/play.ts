/** Plays scenarios through the running program. Its model is a server of this process, which keeps what it was asked. */
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import { createClient, HANDSHAKE, type StreamAnswer } from '../../tests/support/client.ts';
import { PNG } from '../../tests/support/setup-agent.ts';
import type { Play, Script, UpstreamRequest } from '../../tests/support/upstream.ts';
import type { Scenario, Sent } from './scenario.ts';
import { openShop, type Shop } from './shop.ts';

export interface Played {
  readonly scenario: Scenario;
  /** What was asked after the last thing that was sent, round by round. */
  readonly requests: readonly UpstreamRequest[];
}

interface Block {
  readonly id: string;
  readonly block_type: string;
}

interface Pending {
  readonly invocation_id: string;
  readonly name: string;
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
  async play(at: { readonly baseUrl: string; readonly operatorToken: string }, scenario: Scenario, live?: Script): Promise<Played> {
    this.#shop ??= openShop(at.baseUrl, at.operatorToken);
    const shop = await this.#shop;
    const client = createClient(shop.baseUrl, shop.key, (++this.#devices).toString(16).padStart(32, '0'));
    const handshake = {
      ...HANDSHAKE,
      components: [...CATALOG.keys()],
      manifest_hash: shop.manifestHash,
      locale: 'en-GB',
      ...scenario.client,
    };
    let conversation: object = {};
    let blocks: readonly Block[] = [];
    let pending: readonly Pending[] = [];
    for (const sent of scenario.sends) {
      const isLast = sent === scenario.sends.at(-1);
      this.#answers = isLast && live !== undefined ? live : (_, round) => sent.rounds?.[round] ?? SAYS_A_WORD;
      this.#requests = [];
      const uploads = sent.picture === true ? { attachments: [{ upload_id: await upload(client) }] } : {};
      const context = isLast && scenario.context !== undefined ? { context: scenario.context } : {};
      const body = { ...conversation, client: handshake, ...bodyOf(sent, blocks, pending), ...uploads, ...context };
      const answer = await client.chat(body);
      const end = lastEvent(answer, scenario.name);
      conversation = { conversation_id: answer.events[0]?.conversation_id };
      blocks = [...blocks, ...answer.events.flatMap(({ type, block }) => (type === 'block.ready' ? [block as Block] : []))];
      const waits = (end.pending ?? []) as readonly Pending[];
      // A later question leaves a card waiting that its end does not name.
      if (waits.length > 0) pending = waits;
    }
    return { scenario, requests: this.#requests };
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
