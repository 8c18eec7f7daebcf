/** What a model is told before anything was said, for whoever wants to read it. */
import { systemPrompt } from '../../assistant/prompt.ts';
import { readPersona } from '../../storage/apps/drafts.ts';
import type { Channel } from '../../storage/organisations/organisations.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';

type ReadApp = Parameters<typeof readPersona>[1] & { readonly name: string };

/** The trusted instructions of a turn on this channel, for a device that names no language. Drafts count for the sandbox, what was published for live keys. */
export function instructionsOf(db: Connection, app: ReadApp, channel: Channel): string {
  return systemPrompt(app.name, readPersona(db, app, channel), null);
}
