/** One turn of now: what the person said, the answer as far as it is there, and how it stands. */
import { isBusy, type TurnState } from '../../client/conversation/turn.ts';
import { failureWords } from '../blocks/words.ts';
import type { Scene } from '../scene.ts';
import { Answer, type AnswerParts } from './answer.tsx';
import { Feedback, Said } from './message.tsx';

function questionOf({ payload }: TurnState, scene: Scene): string | undefined {
  if (payload.message !== undefined) return payload.message.text;
  return payload.form_submission === undefined ? undefined : scene.words.formSent;
}

function Waiting() {
  return (
    <div class="waiting" aria-hidden="true">
      <i />
      <i />
      <i />
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
        {turn.requestId === undefined ? null : <small class="request-id">{turn.requestId}</small>}
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
  readonly files: readonly string[];
}

export function Turn({ turn, scene, files, ...parts }: TurnProps) {
  const question = questionOf(turn, scene);
  const isWorking = isBusy(turn);
  const hasWords = turn.blocks.length > 0;
  return (
    <>
      {question === undefined ? null : <Said text={question} files={files} label={scene.words.you} />}
      <article class="answer" aria-busy={isWorking}>
        <Answer blocks={turn.blocks} {...parts} />
        {isWorking && !hasWords ? <Waiting /> : null}
        <Standing turn={turn} scene={scene} />
        {turn.phase === 'completed' && turn.messageId !== undefined && hasWords ? (
          <Feedback messageId={turn.messageId} scene={scene} />
        ) : null}
      </article>
    </>
  );
}
