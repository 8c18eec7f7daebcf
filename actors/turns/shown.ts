/**
 * What the model was shown at the beginning of a turn, made again from rows (CONSOLE-36): nothing is kept for it, so what is erased is gone
 * from it, too. What only the request said is missing, and what changed since stands as it is now.
 */
import type { ModelRequest } from '../../assistant/models/model.ts';
import { requestParts } from '../../assistant/models/openai/request-parts.ts';
import { nowLine } from '../../assistant/now.ts';
import { modelRequest, systemPrompt } from '../../assistant/prompt.ts';
import { createToolsets } from '../../assistant/toolset.ts';
import { CATALOG } from '../../protocol/catalog/catalog.ts';
import type { AppRecord } from '../../storage/apps/apps.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import { enabledActions } from '../../storage/apps/http-actions.ts';
import { latestManifest } from '../../storage/apps/manifests.ts';
import { readConversationHead } from '../../storage/conversations/transcripts.ts';
import { readQuestion, type TurnRow } from '../../storage/conversations/turns.ts';
import { searchKnowledge } from '../../storage/knowledge/knowledge-search.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import { PASSAGES_PER_SEARCH } from '../knowledge/explained-search.ts';
import { knowledgeLanguages } from '../knowledge/languages.ts';
import { CHARS_PER_TOKEN } from './spending.ts';
import { readTranscript } from './transcript.ts';

/** Characters of a part that are told; its size is that of the whole. */
const PART_MAX_CHARS = 20_000;

function firstRequest(db: Connection, app: AppRecord, row: TurnRow): ModelRequest {
  const { conversationId, messageId: before, openedAtMs } = row;
  const channel = readConversationHead(db, conversationId)?.channel ?? 'live';
  const { messages } = readTranscript(db, conversationId, openedAtMs, { before, question: readQuestion(db, row.turn) });
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const hasKnowledge = app.newestSource > 0;
  const toolset = createToolsets()({
    components: [...CATALOG.keys()],
    actionKinds: [],
    manifest: latestManifest(db, app.id),
    http: enabledActions(db, app),
    hasKnowledge,
    languages: knowledgeLanguages(db, app),
  });
  return modelRequest({
    system: systemPrompt(app.name, readPersona(db, app, channel), null),
    messages,
    now: nowLine(openedAtMs, [app.settings.timeZone]),
    passages: hasKnowledge && asked !== '' ? searchKnowledge(db, app.id, asked, PASSAGES_PER_SEARCH) : [],
    context: undefined,
    traits: null,
    tools: toolset.definitions,
    requestId: '',
    sender: { app: app.id, device: '' },
  });
}

const sized = (title: string, text: string) => ({
  title,
  text: text.length > PART_MAX_CHARS ? `${text.slice(0, PART_MAX_CHARS)} …` : text,
  tokens: Math.ceil(text.length / CHARS_PER_TOKEN),
});

/** In placeholder form, part by part; tokens are estimated. */
export function readShown(db: Connection, app: AppRecord, row: TurnRow) {
  const { system, definitions, messages } = requestParts(firstRequest(db, app, row));
  return {
    system: sized('system', system),
    definitions: definitions.map(({ title, text }) => sized(title, text)),
    messages: messages.map(({ title, text }) => sized(title, text)),
  };
}

export type Shown = ReturnType<typeof readShown>;
