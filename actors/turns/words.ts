/**
 * The words of a request, made ready for storage and for the model: personal data in placeholder form (PRIVACY-1), and the words of
 * attachments. Everything from outside passes here before anything else sees it.
 */
import { attachmentWords } from '../../assistant/attachments/attachment-text.ts';
import type { ChatMessage } from '../../assistant/models/model.ts';
import type { ChatRequest } from '../../protocol/runtime/chat.ts';
import { traitsOf } from '../../storage/people/end-users.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Redaction } from '../people/redaction.ts';
import { type Attachment, readAttachments, storedAttachments, textOf } from './attachments.ts';
import type { TurnCommand } from './command.ts';

/** What a request says and shows. */
export type SaidRequest = Pick<ChatRequest, 'message' | 'form_submission' | 'tool_results' | 'selection' | 'context'>;

export interface TurnWords {
  /** The request in placeholder form. */
  readonly body: SaidRequest;
  /** With their names and text in placeholder form. */
  readonly attachments: readonly Attachment[];
  /** JSON of what is known of the person, in placeholder form; null when nothing is. */
  readonly traits: string | null;
}

function knownOf(storage: Storage, { app, channel, deviceId, organisationId, person }: TurnCommand): object | null {
  if (person === null) return null;
  const { externalUserId } = person;
  return traitsOf(storage.organisation(organisationId), storage.vault, { appId: app.id, channel, externalUserId, deviceId });
}

function attachments(storage: Storage, command: TurnCommand, nowMs: number): Promise<Attachment[]> | [] {
  const { app, body, channel, deviceId, organisationId } = command;
  const uploadIds = (body.attachments ?? []).map(({ upload_id }) => upload_id);
  return uploadIds.length === 0 ? [] : readAttachments({ storage, organisationId, appId: app.id, channel, deviceId, nowMs, uploadIds });
}

/** What a turn that begins is asked with. @throws Refusal `invalid_request` naming the attachment that is not this device's to use. */
export async function turnWords(storage: Storage, command: TurnCommand, redaction: Redaction, nowMs: number): Promise<TurnWords> {
  const attached = await attachments(storage, command, nowMs);
  const { body, traits } = await redacted(storage, command, redaction);
  const words = await redaction.redact(attached.map((attachment) => [attachment.name, textOf(attachment)] as const));
  return {
    body,
    traits,
    attachments: attached.map((attachment, at): Attachment => {
      const [name, text] = words[at] ?? ['', null];
      return attachment.kind === 'image' ? { ...attachment, name } : { ...attachment, name, text: text ?? '' };
    }),
  };
}

/** The same words with what came with the question that they are about, pictures included: a continuation answers it, too. */
export function withQuestion(words: TurnWords, storage: Storage, organisationId: string, question: string | null): TurnWords {
  return question === null ? words : { ...words, attachments: storedAttachments(storage, organisationId, question) };
}

/** What a new attempt of a turn is asked with; `messageId`: the person's stored message, or the one that a continuation is about. */
export async function retriedWords(
  storage: Storage,
  command: TurnCommand,
  redaction: Redaction,
  messageId: string | null,
): Promise<TurnWords> {
  const stored = messageId === null ? [] : storedAttachments(storage, command.organisationId, messageId);
  // Stored attachments are in placeholder form. Redacted again, placeholders would count as a person's own words.
  return { ...(await redacted(storage, command, redaction)), attachments: stored };
}

async function redacted(storage: Storage, command: TurnCommand, redaction: Redaction): Promise<Omit<TurnWords, 'attachments'>> {
  const { body } = command;
  const { message, form_submission, tool_results, selection, context } = body;
  const told = { request: { tool_results, context }, traits: knownOf(storage, command) };
  const [said, kept] = await redaction.redactTurn({ message, form_submission, selection }, told);
  // Held while the answer comes, so written field by field: an object put together of others takes as much again for a shape of its own.
  return {
    body: {
      message: said.message,
      form_submission: said.form_submission,
      tool_results: kept.request.tool_results,
      selection: said.selection,
      context: kept.request.context,
    },
    traits: kept.traits === null ? null : JSON.stringify(kept.traits),
  };
}

/** What is attached, as the model is shown it: a message of its own before the person's words. */
export function attachedMessage(attachments: readonly Attachment[]): ChatMessage[] {
  if (attachments.length === 0) return [];
  const images = attachments.flatMap((attachment) => (attachment.kind === 'image' ? [attachment.image] : []));
  const content = attachments.map((attachment) => attachmentWords({ ...attachment, text: textOf(attachment) })).join('\n\n');
  return [{ role: 'user', content, ...(images.length === 0 ? {} : { images }) }];
}
