/** The thread: what was said before and turns of now, with its place in it kept. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Conversation } from '../../client/conversation/conversation.ts';
import { isAnswering, type ThreadItem, threadOf } from '../../client/conversation/thread.ts';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';
import { blockAnswers } from './block-answers.ts';
import { useBottom } from './bottom-hook.ts';
import { Message } from './message.tsx';
import { Turn } from './turn.tsx';
import { Welcome } from './welcome.tsx';

interface ThreadProps {
  readonly conversation: Conversation;
  readonly scene: Scene;
  /** Names of files by the id of their upload. */
  readonly fileNames: ReadonlyMap<string, string>;
}

function Earlier({ conversation, scene }: Pick<ThreadProps, 'conversation' | 'scene'>) {
  const { words } = scene;
  const history = useStore(conversation.store, ({ history: now }) => now);
  const [state, setState] = useState<'idle' | 'reading' | 'failed'>('idle');
  const read = async () => {
    setState('reading');
    try {
      await conversation.readEarlier();
      setState('idle');
    } catch {
      setState('failed');
    }
  };
  if (history.phase === 'failed') {
    return (
      <div class="trouble" role="alert">
        <p>{words.historyFailed}</p>
        <button type="button" class="button" onClick={() => void conversation.readNewest()}>
          {words.retry}
        </button>
      </div>
    );
  }
  if (!history.hasMore) return null;
  return (
    <div class="earlier">
      {state === 'failed' ? <p role="alert">{words.historyFailed}</p> : null}
      <button type="button" class="text-button" disabled={state === 'reading'} onClick={() => void read()}>
        {state === 'reading' ? words.loadingEarlier : words.earlier}
      </button>
    </div>
  );
}

/** Says once that an answer begins and that it is complete; a log that is read aloud with every word helps nobody. */
function useAnnouncements(isBusy: boolean, scene: Scene): void {
  const before = useRef(isBusy);
  useEffect(() => {
    if (before.current === isBusy) return;
    before.current = isBusy;
    scene.panel.send({ type: 'said', text: isBusy ? scene.words.answering : scene.words.answerReady });
  }, [isBusy, scene]);
}

export function Thread({ conversation, scene, fileNames }: ThreadProps) {
  const state = useStore(conversation.store, (now) => now);
  const items = useMemo(() => threadOf(state), [state]);
  const answers = useMemo(() => blockAnswers(state.turns), [state.turns]);
  const isBusy = isAnswering(state);
  const box = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd } = useBottom(box, items[0]?.key, state);
  useAnnouncements(isBusy, scene);
  const newest = items.at(-1)?.key;
  const parts = { around: scene.around, answers, calls: state.calls };
  const draw = (item: ThreadItem) => {
    const isNewest = item.key === newest;
    if (item.kind === 'message') return <Message key={item.key} message={item.message} scene={scene} isNewest={isNewest} {...parts} />;
    const files = (item.turn.payload.attachments ?? []).map(({ upload_id: id }) => fileNames.get(id) ?? '').filter((name) => name !== '');
    return <Turn key={item.key} turn={item.turn} scene={scene} files={files} isNewest={isNewest} {...parts} />;
  };
  return (
    <div class="thread-place">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
      <div class="thread" ref={box} role="log" aria-label={scene.words.assistant} aria-busy={isBusy} tabIndex={0}>
        <div class="items">
          <Earlier conversation={conversation} scene={scene} />
          {items.length === 0 && state.history.phase !== 'reading' ? <Welcome scene={scene} /> : items.map(draw)}
        </div>
      </div>
      {isAtEnd ? null : (
        <button type="button" class="to-end" aria-label={scene.words.toNewest} title={scene.words.toNewest} onClick={toEnd}>
          <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
            <path d="M12 5v14M6 13l6 6 6-6" />
          </svg>
        </button>
      )}
    </div>
  );
}
