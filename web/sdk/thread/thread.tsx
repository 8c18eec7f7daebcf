/** The thread: what was said before and turns of now, with its place in it kept. */

import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Conversation } from '../../client/conversation/conversation.ts';
import type { ConversationState } from '../../client/conversation/state.ts';
import { isAnswering, type ThreadItem, threadOf } from '../../client/conversation/thread.ts';
import type { BlockAnswer } from '../blocks/block-view.ts';
import { Glyph } from '../blocks/parts/icon.tsx';
import { useLazy } from '../blocks/parts/lazy-hook.ts';
import { loadMarkdown } from '../prose/prose.tsx';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';
import type { AnswerParts } from './answer.tsx';
import { areSameAnswers, blockAnswers } from './block-answers.ts';
import { useBottom } from './bottom-hook.ts';
import { Message, wordsOf } from './message.tsx';
import { questionOf, Turn } from './turn.tsx';

interface ThreadProps {
  readonly conversation: Conversation;
  readonly scene: Scene;
}

function Welcome({ scene }: { readonly scene: Scene }) {
  const { words } = scene;
  const { copilot } = scene.appearance();
  return (
    <div class="welcome">
      <h3>{copilot.welcomeTitle ?? words.welcomeTitle}</h3>
      {copilot.welcomeBody === undefined ? null : <p>{copilot.welcomeBody}</p>}
      {copilot.suggestions.length === 0 ? null : (
        <ul aria-label={words.suggestions}>
          {copilot.suggestions.map((suggestion) => (
            <li key={suggestion}>
              <button type="button" class="suggestion" onClick={() => scene.say(suggestion)}>
                {suggestion}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
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

/** Begins to load what reads Markdown. */
function Reader({ scene }: Pick<ThreadProps, 'scene'>) {
  useLazy(loadMarkdown, scene.around);
  return null;
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

function useAnswers(turns: ConversationState['turns']): ReadonlyMap<string, BlockAnswer> {
  const held = useRef<ReadonlyMap<string, BlockAnswer>>(new Map());
  const now = useMemo(() => blockAnswers(turns), [turns]);
  if (!areSameAnswers(held.current, now)) held.current = now;
  return held.current;
}

/**
 * Draws an item, and gives back what was drawn of it before while nothing of it has changed: Preact looks no further then, and a delta of
 * the newest answer costs the answers before it nothing.
 */
function useDrawn({ around, answers, calls }: Omit<AnswerParts, 'isNewest'>, scene: Scene) {
  const drawn = useMemo(() => new Map<string, WeakMap<object, VNode>>(), [around, answers, calls, scene]);
  return (item: ThreadItem, isNewest: boolean, isLastSaid: boolean, again?: string): VNode => {
    const of = item.kind === 'message' ? item.message : item.turn;
    const how = `${isNewest} ${isLastSaid}`;
    const held = drawn.get(how) ?? new WeakMap<object, VNode>();
    drawn.set(how, held);
    const before = held.get(of);
    if (before !== undefined) return before;
    const parts = { around, answers, calls, scene, isNewest, isLastSaid };
    const now =
      item.kind === 'message' ? (
        <Message key={item.key} message={item.message} again={again} {...parts} />
      ) : (
        <Turn key={item.key} turn={item.turn} {...parts} />
      );
    held.set(of, now);
    return now;
  };
}

/** Whether the person said it. */
function isSaid(item: ThreadItem, scene: Scene): boolean {
  return item.kind === 'message' ? item.message.role === 'user' : questionOf(item.turn, scene) !== undefined;
}

/** The question that the newest answer of the history answers, where words alone ask it again: a file goes with one message only. */
function askedBefore(items: readonly ThreadItem[]): string | undefined {
  const [asked, answer] = items.slice(-2);
  if (asked?.kind !== 'message' || answer?.kind !== 'message' || asked.message.role !== 'user' || asked.message.attachments !== undefined)
    return undefined;
  return wordsOf(asked.message);
}

export function Thread({ conversation, scene }: ThreadProps) {
  const state = useStore(conversation.store, (now) => now);
  const items = useMemo(() => threadOf(state), [state]);
  const answers = useAnswers(state.turns);
  const isBusy = isAnswering(state);
  const box = useRef<HTMLDivElement>(null);
  const newest = items.at(-1)?.key;
  const lastSaid = items.findLast((item) => isSaid(item, scene))?.key;
  // Of the turns alone: what is read of before is not said now.
  const said = state.turns.findLast((turn) => questionOf(turn, scene) !== undefined)?.turnId;
  const { isAtEnd, toEnd } = useBottom(box, items[0]?.key, said, state);
  useAnnouncements(isBusy, scene);
  const draw = useDrawn({ around: scene.around, answers, calls: state.calls }, scene);
  const again = askedBefore(items);
  const isEmpty = items.length === 0 && state.history.phase !== 'reading';
  return (
    <div class="thread-place">
      {isEmpty ? null : <Reader scene={scene} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
      <div class="thread" part="thread" ref={box} role="log" aria-label={scene.words.assistant} aria-busy={isBusy} tabIndex={0}>
        <div class="items">
          <Earlier conversation={conversation} scene={scene} />
          {isEmpty ? (
            <Welcome scene={scene} />
          ) : (
            items.map((item) => draw(item, item.key === newest, item.key === lastSaid, item.key === newest ? again : undefined))
          )}
        </div>
      </div>
      {isAtEnd ? null : (
        <button type="button" class="to-end" aria-label={scene.words.toNewest} title={scene.words.toNewest} onClick={toEnd}>
          <Glyph path="M12 5v14M6 13l6 6 6-6" />
        </button>
      )}
    </div>
  );
}
