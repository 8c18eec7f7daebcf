/** What was said before: a person's message, or an answer. */
import type { MessageReply } from '../../../protocol/runtime/messages.ts';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import type { Scene } from '../scene.ts';
import { Answer, type AnswerParts } from './answer.tsx';
import { Feedback } from './feedback.tsx';

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
