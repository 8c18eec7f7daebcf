/** One turn of now: what the person said, the answer as far as it is there, and how it stands. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { isBusy, type TurnState } from '../../client/conversation/turn.ts';
import { CopyButton } from '../blocks/parts/copy-button.tsx';
import { failureWords } from '../blocks/words.ts';
import type { Scene } from '../scene.ts';
import { Answer, type AnswerParts } from './answer.tsx';
import { Said } from './message.tsx';
import { Tools } from './tools.tsx';

/** A model that says nothing for so long is told to be at work still: longer than nearly every first word takes (WIDGET-19). */
const SILENCE_MS = 8_000;

/** Whether nothing was `said` for a while by what works; told once a turn to whoever cannot see it. */
function useSilence(isWorking: boolean, said: unknown, { panel, words }: Scene): boolean {
  const [isSilent, setSilent] = useState(false);
  const isTold = useRef(false);
  useEffect(() => {
    setSilent(false);
    if (!isWorking) return undefined;
    const timer = setTimeout(() => {
      setSilent(true);
      if (!isTold.current) panel.send({ type: 'said', text: words.stillWorking });
      isTold.current = true;
    }, SILENCE_MS);
    return () => clearTimeout(timer);
  }, [isWorking, said]);
  return isSilent;
}

export function questionOf({ payload }: TurnState, scene: Scene): string | undefined {
  if (payload.message !== undefined) return payload.message.text;
  return payload.form_submission === undefined ? undefined : scene.words.formSent;
}

function Waiting({ words }: { readonly words: string }) {
  return (
    <div class="waiting" aria-hidden="true">
      <i />
      <i />
      <i />
      {words}
    </div>
  );
}

function Standing({ turn, scene }: { readonly turn: TurnState; readonly scene: Scene }) {
  const { words, assistant } = scene;
  const { notice, failure, ending } = turn;
  if (turn.phase === 'waiting') {
    return (
      <p class="standing">
        {words.waiting}
        <button type="button" class="text-button" onClick={() => assistant.conversation.discard(turn.turnId)}>
          {words.discard}
        </button>
      </p>
    );
  }
  if (turn.phase === 'failed' && failure !== undefined) {
    return (
      <div class="trouble" role="alert">
        <p>{failureWords(failure, scene.around.words)}</p>
        {failure.retryable ? (
          <button type="button" class="button" onClick={() => assistant.conversation.retry(turn.turnId)}>
            {words.retry}
          </button>
        ) : null}
        {turn.requestId === undefined ? null : (
          <small class="request-id">
            {words.request} <code>{turn.requestId}</code>
            <CopyButton class="request-copy" text={turn.requestId} name={words.request} around={scene.around} />
          </small>
        )}
      </div>
    );
  }
  if (turn.isReconnecting) return <p class="standing">{words.reconnecting}</p>;
  return (
    <>
      {notice === undefined ? null : <p class="notice">{notice.message}</p>}
      {ending?.stopped === true ? <p class="standing">{words.stopped}</p> : null}
      {ending?.truncated === true ? <p class="standing">{words.truncated}</p> : null}
    </>
  );
}

interface TurnProps extends AnswerParts {
  readonly turn: TurnState;
  readonly scene: Scene;
  /** The last thing that the person said. */
  readonly isLastSaid: boolean;
}

export function Turn({ turn, scene, isLastSaid, ...parts }: TurnProps) {
  const { payload, sentAtMs: at } = turn;
  const question = questionOf(turn, scene);
  const isWorking = isBusy(turn);
  const hasWords = turn.blocks.length > 0;
  const isSilent = useSilence(isWorking && !turn.isReconnecting, turn.blocks, scene);
  const files = (payload.attachments ?? []).map(({ upload_id: id }) => scene.attaching.sent(id));
  const isPlain = payload.message !== undefined && payload.attachments === undefined && payload.selection === undefined;
  return (
    <>
      {question === undefined ? null : (
        <Said text={question} files={files} label={scene.words.you}>
          <Tools written={question} scene={scene} at={at} isNewest={isLastSaid} isEditable={isLastSaid && payload.message !== undefined} />
        </Said>
      )}
      <article class="answer" part="answer" aria-busy={isWorking}>
        <Answer blocks={turn.blocks} {...parts} />
        {isSilent || (isWorking && !hasWords) ? <Waiting words={isSilent ? scene.words.stillWorking : ''} /> : null}
        <Standing turn={turn} scene={scene} />
        {turn.phase === 'completed' && turn.messageId !== undefined && hasWords ? (
          <Tools
            written={turn.blocks}
            messageId={turn.messageId}
            again={parts.isNewest && isPlain ? question : undefined}
            isNewest={parts.isNewest}
            at={at}
            scene={scene}
          />
        ) : null}
      </article>
    </>
  );
}
