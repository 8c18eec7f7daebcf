/** Writes that wait for a person in a running service, and the person's side of them. */
import assert from 'node:assert/strict';
import { type Answer, type Client, HANDSHAKE } from '../../support/client.ts';
import { pendingOf, readies, type ScriptedChat, thread, type WireBlock } from './scripted-chat.ts';

export const MANIFEST = {
  version: '1',
  actions: [
    { name: 'find_order', description: 'Finds an order.', params: { id: { type: 'string', required: true } } },
    {
      name: 'move_delivery',
      description: 'Moves a delivery.',
      risk: 'write',
      confirm_template: { en: 'Deliver {id} on {day}?', de: '{id} am {day} liefern?' },
      confirm_labels: { en: { confirm: 'Move it', cancel: 'Leave it' }, de: { confirm: 'Verschieben', cancel: 'Lassen' } },
      params: {
        id: { type: 'string', required: true },
        day: { type: 'string', required: true, enum: ['monday', 'tuesday'], editable: true },
        note: { type: 'string', editable: true },
      },
    },
    {
      name: 'close_account',
      description: 'Closes the account.',
      risk: 'destructive',
      confirm_template: 'Close the account?',
      type_to_confirm: 'Café zu',
    },
  ],
};

export const MOVE = { call: 'move_delivery', args: { id: '7', day: 'monday' }, id: 'call_move' };

export interface AskedWrite {
  readonly id: string;
  readonly conversationId: string;
  readonly card: WireBlock;
  /** Handshake of the turns of this conversation. */
  readonly more: Readonly<Record<string, unknown>>;
}

export async function handshake(client: Client, locale?: string): Promise<Record<string, unknown>> {
  const manifest_hash = await client.register(MANIFEST);
  return { client: { ...HANDSHAKE, manifest_hash, ...(locale === undefined ? {} : { locale }) } };
}

/** A turn in which the model calls a write, and its card. `fields`: of the turn's body. */
export async function askWrite(
  it: ScriptedChat,
  play: { call: string; args: unknown; id?: string } = MOVE,
  locale?: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<AskedWrite> {
  const more = { ...(await handshake(it.client, locale)), ...fields };
  it.script([play]);
  const turn = await it.say('Please do it', more);
  const [card] = readies(turn.events);
  const [pending] = pendingOf(turn);
  assert.ok(card !== undefined && pending !== undefined, turn.text);
  return { id: pending.invocation_id, conversationId: thread(turn), card, more };
}

export function confirm(client: Client, id: string, body: unknown = { decision: 'confirm' }): Promise<Answer> {
  return client.send('POST', `/v1/invocations/${id}/confirm`, body);
}

export function edit(client: Client, id: string, revision: number, params: unknown): Promise<Answer> {
  return client.send('POST', `/v1/invocations/${id}/edit`, { revision, params });
}

/** The card as history shows it. */
export async function storedCard(it: ScriptedChat, { conversationId, card }: AskedWrite): Promise<WireBlock> {
  const messages = await it.stored(conversationId);
  const found = messages.flatMap(({ blocks }) => blocks).find(({ id }) => id === card.id);
  assert.ok(found !== undefined, 'the card is in the history');
  return found;
}

export function errorOf({ json }: Answer): { code: string; message: string; details?: readonly { path: string; message: string }[] } {
  return (json as { error: ReturnType<typeof errorOf> }).error;
}
