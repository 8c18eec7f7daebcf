/** What was said before: a person's message, or an answer. */

import { useState } from 'preact/hooks';
import type { MessageReply } from '../../../protocol/runtime/messages.ts';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import { Glyph } from '../blocks/parts/icon.tsx';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';
import { Answer, type AnswerParts } from './answer.tsx';

function wordsOf({ blocks }: MessageReply): string {
  return blocks.flatMap(({ body, fallback_text: fallback }) => (typeof body.md === 'string' ? body.md : (fallback ?? []))).join('\n');
}

export function Said({ text, files, label }: { readonly text: string; readonly files: readonly string[]; readonly label: string }) {
  return (
    <div class="said">
      <span class="unseen">{label}: </span>
      {text === '' ? null : <div class="bubble">{text}</div>}
      {files.map((name, at) => (
        <div class="sent-file" key={at}>
          {name}
        </div>
      ))}
    </div>
  );
}

export function Message({ message, scene, ...parts }: AnswerParts & { readonly message: MessageReply; readonly scene: Scene }) {
  const { words } = scene;
  if (message.role === 'user') {
    return <Said text={wordsOf(message)} files={(message.attachments ?? []).map(({ name }) => name)} label={words.you} />;
  }
  const blocks = message.blocks.map(
    (block): AnswerBlock => ({ phase: 'ready', index: block.index, id: block.id, blockType: block.block_type, block }),
  );
  return (
    <article class="answer">
      <Answer blocks={blocks} {...parts} />
      <Feedback messageId={message.id} scene={scene} />
    </article>
  );
}

const THUMB = 'M7 11v9H4v-9zM7 11l4-8c1.7 0 2.5 1.2 2.2 2.7L12.5 9H18c1.5 0 2.4 1.3 2 2.7l-2 7c-.3.8-1 1.3-1.8 1.3H7';

export function Feedback({ messageId, scene }: { readonly messageId: string; readonly scene: Scene }) {
  const { conversation, app } = scene.assistant;
  const given = useStore(conversation.store, ({ feedback }) => feedback[messageId]);
  const [note, setNote] = useState('');
  useStore(app, ({ configuration }) => configuration);
  if (!scene.appearance().copilot.feedback) return null;
  const rate = async (rating: 1 | -1) => {
    try {
      await conversation.opinions.thumb(messageId, rating);
      setNote(scene.words.thanks);
    } catch (error) {
      setNote(error instanceof Error ? error.message : '');
    }
  };
  const thumb = (rating: 1 | -1, label: string) => (
    <button type="button" class="thumb" aria-pressed={given === rating} aria-label={label} title={label} onClick={() => void rate(rating)}>
      <Glyph path={THUMB} class={rating === 1 ? '' : 'is-down'} />
    </button>
  );
  return (
    <div class="feedback">
      {thumb(1, scene.words.helpful)}
      {thumb(-1, scene.words.unhelpful)}
      <span role="status">{note}</span>
    </div>
  );
}
