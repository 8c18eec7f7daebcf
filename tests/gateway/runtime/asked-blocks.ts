/** Blocks that a person answers, emitted by a scripted model, and the ways to answer them over HTTP. */
import assert from 'node:assert/strict';
import { createClient, HANDSHAKE, outline, type StreamAnswer } from '../../support/client.ts';
import { readies, type ScriptedChat, thread, type WireBlock } from './scripted-chat.ts';

/** A build that draws everything there is to answer. */
export const ANSWERING = {
  client: {
    ...HANDSHAKE,
    components: [...HANDSHAKE.components, 'tags', 'rating', 'variant_picker', 'datetime_slots'],
  },
};

export interface Shown {
  readonly block: WireBlock;
  readonly conversationId: string;
  /** Answers by choosing, on the device that was asked unless told otherwise; more fields of the body win. */
  select(selection: Record<string, unknown>, more?: Record<string, unknown>): Promise<StreamAnswer>;
  /** Answers a form. */
  submit(values: Record<string, unknown>, more?: Record<string, unknown>): Promise<StreamAnswer>;
  /** The block as history has it. */
  stored(): Promise<WireBlock>;
}

/** Opens a conversation in which the model shows this block, and says `Thank you.` to whatever comes then. */
export async function show(it: ScriptedChat, component: string, args: unknown): Promise<Shown> {
  it.script([{ call: component, args }], ...Array.from({ length: 8 }, () => [{ text: 'Thank you.' }]));
  const answer = await it.say('Ask me', ANSWERING);
  const [block] = readies(answer.events);
  assert.equal(block?.block_type, component, answer.text);
  const conversationId = thread(answer);
  const shown = block as WireBlock;
  const client = createClient(it.service.baseUrl, it.app.liveKey);
  const send = (body: Record<string, unknown>) => client.chat({ ...ANSWERING, conversation_id: conversationId, ...body });
  return {
    block: shown,
    conversationId,
    select: (selection, more = {}) => send({ message: { text: 'This one' }, selection: { block_id: shown.id, ...selection }, ...more }),
    submit: (values, more = {}) => send({ form_submission: { form_id: shown.id, values }, ...more }),
    async stored() {
      const blocks = (await it.stored(conversationId)).flatMap((message) => message.blocks);
      return blocks.find(({ id }) => id === shown.id) as WireBlock;
    },
  };
}

/** The answer was taken and the model asked. */
export function assertTaken({ events, text }: StreamAnswer): void {
  assert.deepEqual([events[0]?.type, events.at(-1)?.status], ['turn.start', 'completed'], text);
}

/** Told in the stream, nothing opened (CHAT-16); the message begins with the field. */
export function assertRefused({ events, text }: StreamAnswer, field: string, names = /./): void {
  assert.deepEqual([outline(events), events[0]?.code], [['error', 'turn.end'], 'invalid_request'], text);
  assert.ok(String(events[0]?.message).startsWith(field), String(events[0]?.message));
  assert.match(String(events[0]?.message), names);
}
