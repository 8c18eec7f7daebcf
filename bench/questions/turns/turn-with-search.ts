/** W9: a turn in which the model searches the app's knowledge. */
import { SEARCH_MODEL } from '../../model/scripted-model.ts';
import { textSource } from '../../model/text.ts';
import { askerOf, askersOf, ONE_TOKEN, type TurnKind, type TurnStage, timesOf } from './turn-kind.ts';

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
