/**
 * The words of a request, made ready for storage and for the model: personal data in placeholder form (PRIVACY-1), and the words of
 * attachments. Everything from outside passes here before anything else sees it.
 */
import { attachmentWords } from '../../assistant/attachments/attachment-text.ts';
import type { ChatMessage } from '../../assistant/models/model.ts';
import { traitsOf } from '../../storage/people/end-users.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Redaction } from '../people/redaction.ts';
import { type Attachment, readAttachments, storedAttachments, textOf } from './attachments.ts';
import type { AnyCommand, Command } from './command.ts';

/** What a turn is asked with. */
export interface TurnWords {
  /** With its words in placeholder form: those that were sent are let go of. */
  readonly command: AnyCommand;
  /** With their names and text in placeholder form. */
  readonly attachments: readonly Attachment[];
  /** JSON of what is known of the person, in placeholder form; null when nothing is. */
  readonly traits: string | null;
}

function knownOf(storage: Storage, { caller, person }: Command): object | null {
  if (person === null) return null;
  const { appId, channel, deviceId, organisationId } = caller;
  const { externalUserId } = person;
  return traitsOf(storage.organisation(organisationId), storage.vault, { appId, channel, externalUserId, deviceId });
}

function attachments(storage: Storage, { body, caller }: Command, nowMs: number): Promise<Attachment[]> | [] {
  const uploadIds = (body.attachments ?? []).map(({ upload_id }) => upload_id);
  return uploadIds.length === 0 ? [] : readAttachments({ ...caller, storage, nowMs, uploadIds });
}

/** The words of a turn that begins. @throws Refusal `invalid_request` naming the attachment that is not this device's to use. */
export async function turnWords(storage: Storage, command: Command, redaction: Redaction, nowMs: number): Promise<TurnWords> {
  const asked = attachments(storage, command, nowMs);
  const attached = asked instanceof Promise ? await asked : asked;
  // Nearly always there is nothing to wait for.
  const made = redacted(storage, command, redaction);
  const kept = made instanceof Promise ? await made : made;
  if (attached.length === 0) return { command: kept.command, traits: kept.traits, attachments: [] };
  const words = await redaction.redact(attached.map((attachment) => [attachment.name, textOf(attachment)] as const));
  return {
    ...kept,
    attachments: attached.map((attachment, at): Attachment => {
      const [name, text] = words[at] ?? ['', null];
      return attachment.kind === 'image' ? { ...attachment, name } : { ...attachment, name, text: text ?? '' };
    }),
  };
}

/** The same words with what came with the question that they are about, pictures included: a continuation answers it, too. */
export function withQuestion(words: TurnWords, storage: Storage, question: string | null): TurnWords {
  if (question === null) return words;
  return { ...words, attachments: storedAttachments(storage, words.command.caller.organisationId, question) };
}

/** The words of a new attempt; `messageId`: the person's stored message, or the one that a continuation is about. */
export async function retriedWords(storage: Storage, command: Command, redaction: Redaction, messageId: string | null): Promise<TurnWords> {
  // Stored attachments are in placeholder form. Redacted again, placeholders would count as a person's own words.
  return withQuestion({ ...(await redacted(storage, command, redaction)), attachments: [] }, storage, messageId);
}

type Kept = Omit<TurnWords, 'attachments'>;

function redacted(storage: Storage, command: Command, redaction: Redaction): Kept | Promise<Kept> {
  const { message, form_submission, tool_results, selection, context } = command.body;
  const beside = { request: { tool_results, context }, traits: knownOf(storage, command) };
  const words = redaction.redactTurn({ message, form_submission, selection }, beside);
  return words instanceof Promise ? words.then(([said, kept]) => keptWords(command, said, kept)) : keptWords(command, ...words);
}

type Said = Pick<AnyCommand['body'], 'message' | 'form_submission' | 'selection'>;
type Beside = { readonly request: Pick<AnyCommand['body'], 'tool_results' | 'context'>; readonly traits: object | null };

function keptWords(command: Command, said: Said, kept: Beside): Kept {
  // Held while the answer comes, so written field by field: an object put together of others takes as much again for a shape of its own.
  return {
    command: {
      caller: command.caller,
      person: command.person,
      userToken: command.userToken,
      body: {
        client: command.body.client,
        message: said.message,
        form_submission: said.form_submission,
        tool_results: kept.request.tool_results,
        selection: said.selection,
        context: kept.request.context,
      },
      turnId: command.turnId,
      fingerprint: command.fingerprint,
      requestId: command.requestId,
      purpose: command.purpose,
      receivedAtMs: command.receivedAtMs,
      listen: command.listen,
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
