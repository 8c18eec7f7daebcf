/** W8: the 200th turn of a conversation and the ones that follow. */

import type { Asker } from '../../loadtest/service-api.ts';
import { textSource } from '../../model/text.ts';
import { copyConversation } from './copied-conversations.ts';
import { askersOf, HELLO, ONE_TOKEN, PLAIN, type TurnKind, type TurnStage, timesOf } from './turn-kind.ts';

/** Turns that were, when the clock starts. */
const EARLIER_TURNS = 199;
/** Each is asked a few dozen times in a run: its 200th turn and the next ones. */
const CONVERSATIONS = 512;
const QUICK_CONVERSATIONS = 64;
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
    await stage.withFile(this.model, (file) =>
      copyConversation(file, original, stage.quick ? QUICK_CONVERSATIONS : CONVERSATIONS, ({ id, device }) =>
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
