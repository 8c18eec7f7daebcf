/** Where a person writes: text, files, send or stop. What is typed stays until it is sent, over a reload as well (WIDGET-9). */

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MESSAGE_TEXT_MAX_CHARS } from '../../../protocol/limits.ts';
import type { Conversation } from '../../client/conversation/conversation.ts';
import { isLive } from '../../client/conversation/turn.ts';
import { failureOf } from '../../client/transport/failure.ts';
import { Glyph } from '../blocks/parts/icon.tsx';
import { failureWords, filled } from '../blocks/words.ts';
import type { Scene } from '../scene.ts';
import { ACCEPTED } from '../state/attaching.ts';
import type { WaitingFile } from '../state/panel.ts';
import { useStore } from '../store-hook.ts';
import { Picture } from '../thread/message.tsx';

function Files({ files, scene }: { readonly files: readonly WaitingFile[]; readonly scene: Scene }) {
  const { words, attaching } = scene;
  if (files.length === 0) return null;
  return (
    <ul class="files">
      {files.map(({ key, name, picture, share, uploadId, problem }) => (
        <li key={key} class={problem === undefined ? 'file' : 'file is-bad'}>
          {problem === undefined && picture !== undefined ? <Picture address={picture} class="file-picture" /> : null}
          <span class="file-name" dir="auto">
            {problem ?? name}
          </span>
          {problem === undefined && uploadId === undefined ? (
            <progress value={share} max={1} aria-label={filled(words.uploading, { name, percent: Math.round(share * 100) })} />
          ) : null}
          <button type="button" class="file-remove" aria-label={filled(words.removeFile, { name })} onClick={() => attaching.remove(key)}>
            <Glyph path="M7 7l10 10M17 7L7 17" />
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ComposerProps {
  readonly conversation: Conversation;
  readonly scene: Scene;
}

/** Key number of whatever an input method takes (UI Events, section 7.3.1). */
const COMPOSING_KEY = 229;

/** A draft is a person's, and goes with the tab. A browser that forbids it keeps none. */
function keptDraft({ drafts, draftName }: Scene): string {
  try {
    return drafts?.get(draftName) ?? '';
  } catch {
    return '';
  }
}

export function keepDraft({ drafts, draftName }: Scene, text: string): void {
  try {
    if (text === '') drafts?.take(draftName);
    else drafts?.set(draftName, text);
  } catch {
    // Then it is not kept.
  }
}

/** The app would attach something, and the person is asked first (WIDGET-44). */
function Offer({ scene }: { readonly scene: Scene }) {
  const { panel, around } = scene;
  const offer = useStore(panel, (now) => now.offer);
  if (offer === undefined) return null;
  return (
    <div class="offer" role="alert">
      <p dir="auto">{offer.question}</p>
      <button type="button" class="button" onClick={() => offer.answer(true)}>
        {around.words.yes}
      </button>
      <button type="button" class="button" onClick={() => offer.answer(false)}>
        {around.words.no}
      </button>
    </div>
  );
}

const CLIP = 'M20 11.5l-8.2 8.2a5 5 0 0 1-7-7L13 4.4a3.4 3.4 0 0 1 4.8 4.8l-8.1 8.1a1.8 1.8 0 0 1-2.5-2.5l7.4-7.4';
const UP = 'M12 19V5M6 11l6-6 6 6';
const STOP = 'M7 7h10v10H7z';

function useText(scene: Scene) {
  const [text, show] = useState(() => keptDraft(scene));
  const field = useRef<HTMLTextAreaElement>(null);
  // Kept at once: a page may go at any moment.
  const setText = (next: string) => {
    keepDraft(scene, next);
    show(next);
  };
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.removeProperty('block-size');
    // What is not shown yet has no height.
    if (element.scrollHeight > 0) element.style.setProperty('block-size', `${element.scrollHeight}px`);
  }, [text]);
  return { text, setText, field };
}

function Attach({ scene }: { readonly scene: Scene }) {
  const { words, attaching } = scene;
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="round" aria-label={words.attach} title={words.attach} onClick={() => chooser.current?.click()}>
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
    </>
  );
}

function SendOrStop({ conversation, scene, isEmpty, canSend, toField }: Pick<ComposerProps, 'conversation' | 'scene'> & SendState) {
  const { words } = scene;
  const running = useStore(conversation.store, ({ turns }) => turns.find((turn) => isLive(turn)));
  if (running === undefined || !isEmpty) {
    return (
      <button type="submit" class="round is-send" aria-label={words.send} title={words.send} disabled={!canSend}>
        <Glyph path={UP} />
      </button>
    );
  }
  const label = running.isStopping ? words.stopping : words.stop;
  return (
    <button
      type="button"
      class="round is-send is-stop"
      aria-label={label}
      title={label}
      disabled={running.isStopping}
      onClick={() => {
        conversation.stop(running.turnId);
        // This button goes, and with it a focus that stays on it.
        toField();
      }}
    >
      <Glyph path={STOP} />
    </button>
  );
}

interface SendState {
  readonly isEmpty: boolean;
  readonly canSend: boolean;
  readonly toField: () => void;
}

export function Composer({ conversation, scene }: ComposerProps) {
  const { words, panel, attaching } = scene;
  const { text, setText, field } = useText(scene);
  const [problem, setProblem] = useState('');
  const files = useStore(panel, ({ files: now }) => now);
  const edit = useStore(panel, (now) => now.edit);
  const toField = () => field.current?.focus();
  useLayoutEffect(() => {
    if (edit === '') return;
    panel.send({ type: 'edited', text: '' });
    // What was being written is not lost for it.
    setText(text.trim() === '' ? edit : `${text}\n${edit}`);
    toField();
  }, [edit]);
  const over = text.length - MESSAGE_TEXT_MAX_CHARS;
  const isUploading = files.some(({ uploadId, problem: wrong }) => uploadId === undefined && wrong === undefined);
  const hasFiles = files.some(({ uploadId }) => uploadId !== undefined);
  const isEmpty = text.trim() === '' && !hasFiles;

  const send = (event: Event) => {
    event.preventDefault();
    // What is in the field: somebody who types fast is ahead of the drawing.
    const said = (field.current?.value ?? text).trim();
    if ((said === '' && !hasFiles) || said.length > MESSAGE_TEXT_MAX_CHARS || isUploading) return;
    try {
      conversation.say(said, { uploadIds: files.flatMap(({ uploadId }) => uploadId ?? []) });
      setText('');
      setProblem('');
      panel.send({ type: 'filesSent' });
    } catch (error) {
      setProblem(failureWords(failureOf(error), scene.around.words));
    }
    toField();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // A word that is being put together (Japanese, Chinese, Korean) is ended by Enter as well; Safari says so by the key's number alone.
    const isComposing = event.isComposing || event.keyCode === COMPOSING_KEY;
    if (event.key === 'Enter' && !event.shiftKey && !isComposing) send(event);
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (pasted.length === 0) return;
    event.preventDefault();
    attaching.add(pasted);
  };
  return (
    <form class="composer" part="composer" onSubmit={send}>
      <Offer scene={scene} />
      <Files files={files} scene={scene} />
      {problem === '' && over <= 0 ? null : (
        <p class="composer-problem" role="alert">
          {over > 0 ? filled(words.tooLong, { count: over }) : problem}
        </p>
      )}
      <div class="field">
        <Attach scene={scene} />
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          aria-label={words.composer}
          placeholder={scene.appearance().copilot.composerHint ?? words.composer}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <SendOrStop
          conversation={conversation}
          scene={scene}
          isEmpty={isEmpty}
          canSend={!isEmpty && over <= 0 && !isUploading}
          toField={toField}
        />
      </div>
    </form>
  );
}
