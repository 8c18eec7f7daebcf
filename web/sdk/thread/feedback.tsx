/** Thumbs under an answer, where the app has switched them on. */

import { useState } from 'preact/hooks';
import { Glyph } from '../blocks/parts/icon.tsx';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';

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
