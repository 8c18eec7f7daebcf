/** What was said before: a person's message, or an answer; and the row of tools below each (WIDGET-20). */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { MessageReply } from '../../../protocol/runtime/messages.ts';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import type { Scene } from '../scene.ts';
import type { SentFile } from '../state/attaching.ts';
import { Answer, type AnswerParts } from './answer.tsx';
import { Tools } from './tools.tsx';

export function wordsOf({ blocks }: MessageReply): string {
  return blocks.flatMap(({ body, fallback_text: fallback }) => (typeof body.md === 'string' ? body.md : (fallback ?? []))).join('\n');
}

/** A person's own file. Where the page's policy forbids it, its name alone is there. */
export function Picture({
  address,
  name = '',
  class: className,
}: {
  readonly address: string;
  readonly name?: string;
  readonly class: string;
}) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <>{name}</>;
  return <img class={className} src={address} alt={name} title={name} decoding="async" onError={() => setBroken(true)} />;
}

interface SaidProps {
  readonly text: string;
  readonly files: readonly SentFile[];
  readonly label: string;
  readonly children?: ComponentChildren;
}

export function Said({ text, files, label, children }: SaidProps) {
  return (
    <div class="said">
      <span class="unseen">{label}: </span>
      {text === '' ? null : (
        <div class="bubble" part="question">
          <div dir="auto">{text}</div>
        </div>
      )}
      {files.length === 0 ? null : (
        <div class="sent-files">
          {files.map(({ name, picture }, at) => (
            <div class="sent-file" key={at} dir="auto">
              {picture === undefined ? name : <Picture address={picture} name={name} class="sent-picture" />}
            </div>
          ))}
        </div>
      )}
      {children}
    </div>
  );
}

interface MessageProps extends AnswerParts {
  readonly message: MessageReply;
  readonly scene: Scene;
  readonly isLastSaid: boolean;
  readonly again: string | undefined;
}

export function Message({ message, scene, isLastSaid, again, ...parts }: MessageProps) {
  const { id, role, created_at: at, attachments = [] } = message;
  if (role === 'user') {
    const files = attachments.map(({ upload_id: uploadId, name }) => scene.attaching.sent(uploadId, name));
    const text = wordsOf(message);
    return (
      <Said text={text} files={files} label={scene.words.you}>
        <Tools written={text} scene={scene} at={at} isNewest={isLastSaid} isEditable={isLastSaid} />
      </Said>
    );
  }
  const blocks = message.blocks.map(
    (block): AnswerBlock => ({ phase: 'ready', index: block.index, id: block.id, blockType: block.block_type, block }),
  );
  return (
    <article class="answer" part="answer">
      <Answer blocks={blocks} {...parts} />
      <Tools written={blocks} at={at} messageId={id} isNewest={parts.isNewest} again={again} scene={scene} />
    </article>
  );
}
