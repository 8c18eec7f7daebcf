/** Where a person writes: text, files, send or stop. What is typed stays until it is sent, over a reload as well (WIDGET-9). */
import { useEffect, useRef, useState } from 'preact/hooks';
import { MESSAGE_TEXT_MAX_CHARS } from '../../../protocol/limits.ts';
import type { Conversation } from '../../client/conversation/conversation.ts';
import { isLive } from '../../client/conversation/turn.ts';
import { failureOf } from '../../client/transport/failure.ts';
import { filled } from '../blocks/words.ts';
import type { Scene } from '../scene.ts';
import { ACCEPTED } from '../state/attaching.ts';
import { useStore } from '../store-hook.ts';
import { Files } from './files.tsx';

interface ComposerProps {
  readonly conversation: Conversation;
  readonly scene: Scene;
  /** Names of files by the id of their upload, for the thread. */
  readonly fileNames: Map<string, string>;
  /** Under which a draft is kept. */
  readonly draftName: string;
}

/** Of the page's session: a draft is a person's, and goes with the tab. A browser that forbids it keeps none. */
function keptDraft(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

function keepDraft(name: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // Then it is not kept.
  }
}

function Glyph({ path }: { readonly path: string }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
      <path d={path} />
    </svg>
  );
}

const CLIP = 'M20 11.5l-8.2 8.2a5 5 0 0 1-7-7L13 4.4a3.4 3.4 0 0 1 4.8 4.8l-8.1 8.1a1.8 1.8 0 0 1-2.5-2.5l7.4-7.4';
const UP = 'M12 19V5M6 11l6-6 6 6';
const STOP = 'M7 7h10v10H7z';

export function Composer({ conversation, scene, fileNames, draftName }: ComposerProps) {
  const { words: labels, panel, attaching } = scene;
  const [text, setText] = useState(() => keptDraft(draftName));
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const files = useStore(panel, ({ files: now }) => now);
  const running = useStore(conversation.store, ({ turns }) => turns.find((turn) => isLive(turn) && turn.phase !== 'waiting'));
  const { copilot } = scene.appearance();
  const over = text.length - MESSAGE_TEXT_MAX_CHARS;
  const isUploading = files.some(({ uploadId, problem: wrong }) => uploadId === undefined && wrong === undefined);
  const canSend = text.trim() !== '' && over <= 0 && !isUploading;

  useEffect(() => keepDraft(draftName, text), [draftName, text]);
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.setProperty('block-size', 'auto');
    element.style.setProperty('block-size', `${element.scrollHeight}px`);
  }, [text]);

  const send = () => {
    // What is in the field: somebody who types fast is ahead of the drawing.
    const words = (field.current?.value ?? text).trim();
    if (words === '' || words.length > MESSAGE_TEXT_MAX_CHARS || isUploading) return;
    const ready = files.flatMap(({ uploadId, name }) => (uploadId === undefined ? [] : [{ uploadId, name }]));
    for (const { uploadId, name } of ready) fileNames.set(uploadId, name);
    try {
      conversation.say(words, { uploadIds: ready.map(({ uploadId }) => uploadId) });
      setText('');
      setProblem('');
      panel.send({ type: 'filesSent' });
    } catch (error) {
      setProblem(failureOf(error).message);
    }
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // A word that is being put together (Japanese, Chinese, Korean) is ended by Enter as well.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (pasted.length === 0) return;
    event.preventDefault();
    attaching.add(pasted);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Files files={files} scene={scene} />
      {problem === '' && over <= 0 ? null : (
        <p class="composer-problem" role="alert">
          {over > 0 ? filled(labels.tooLong, { count: over }) : problem}
        </p>
      )}
      <div class="field">
        <button type="button" class="round" aria-label={labels.attach} title={labels.attach} onClick={() => chooser.current?.click()}>
          <Glyph path={CLIP} />
        </button>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          accept={ACCEPTED}
          tabIndex={-1}
          aria-hidden="true"
          onChange={({ currentTarget }) => {
            attaching.add([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <textarea
          ref={field}
          rows={1}
          aria-label={labels.composer}
          placeholder={copilot.composerHint ?? labels.composer}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {running === undefined || text.trim() !== '' ? (
          <button type="submit" class="round is-send" aria-label={labels.send} title={labels.send} disabled={!canSend}>
            <Glyph path={UP} />
          </button>
        ) : (
          <button
            type="button"
            class="round is-send is-stop"
            aria-label={running.isStopping ? labels.stopping : labels.stop}
            title={labels.stop}
            disabled={running.isStopping}
            onClick={() => conversation.stop(running.turnId)}
          >
            <Glyph path={STOP} />
          </button>
        )}
      </div>
    </form>
  );
}
