/** Below a message: copy it as it was written, ask or edit it again, say whether it helped, and when it was said (WIDGET-20). */
import { useEffect, useState } from 'preact/hooks';
import type { AnswerBlock } from '../../client/conversation/answer-blocks.ts';
import { Glyph } from '../blocks/parts/icon.tsx';
import { asWritten } from '../prose/as-written.ts';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';

interface ToolsProps {
  readonly scene: Scene;
  /** What Copy copies, as it was written. */
  readonly written: string | readonly AnswerBlock[];
  /** When it was said: milliseconds since 1970, or ISO 8601. */
  readonly at: number | string;
  /** Always seen; those of earlier ones while one points at them, or is in them. */
  readonly isNewest: boolean;
  /** Of an answer: what the thumbs are about. */
  readonly messageId?: string | undefined;
  /** Question that may be asked again. */
  readonly again?: string | undefined;
  readonly isEditable?: boolean;
}

const COPY = 'M9 9h10v10H9zM5 15V5h10';
const DONE = 'M5 12.5l4.5 4.5L19 7.5';
const AGAIN = 'M19 12a7 7 0 1 1-2.2-5.1M19 4v4.5h-4.5';
const EDIT = 'M5 19l1-4L16 5l3 3L9 18z';
const THUMB = 'M7 11v9H4v-9zM7 11l4-8c1.7 0 2.5 1.2 2.2 2.7L12.5 9H18c1.5 0 2.4 1.3 2 2.7l-2 7c-.3.8-1 1.3-1.8 1.3H7';

/** Long enough to be read. */
const NOTED_MS = 2_400;

/** Markdown where there is some; of everything else what says it in words. */
function markdownOf(block: AnswerBlock): string {
  if (block.phase !== 'ready') return block.text;
  const { title, md } = block.block.body as { readonly title?: unknown; readonly md?: unknown };
  if (typeof md !== 'string') return block.block.fallback_text ?? '';
  return typeof title === 'string' ? `## ${title}\n\n${md}` : md;
}

function writtenOf(written: ToolsProps['written']): string {
  if (typeof written === 'string') return written;
  const parts = written.map(markdownOf);
  return asWritten(parts.filter((part) => part.trim() !== '').join('\n\n'));
}

interface ToolProps {
  readonly label: string;
  readonly path: string;
  readonly onClick: () => void;
  readonly isPressed?: boolean;
  readonly class?: string;
}

function Tool({ label, path, onClick, isPressed, class: className = '' }: ToolProps) {
  return (
    <button type="button" class={`tool ${className}`} aria-label={label} title={label} aria-pressed={isPressed} onClick={onClick}>
      <Glyph path={path} />
    </button>
  );
}

function Thumbs({ scene, messageId, say }: { readonly scene: Scene; readonly messageId: string; readonly say: (note: string) => void }) {
  const { assistant, words } = scene;
  const { conversation } = assistant;
  const given = useStore(conversation.store, ({ feedback }) => feedback[messageId]);
  useStore(assistant.app, ({ configuration }) => configuration);
  if (!scene.appearance().copilot.feedback) return null;
  const rate = (rating: 1 | -1) =>
    scene.ask.thumb(messageId, rating).then(
      () => say(words.thanks),
      (error: unknown) => say(error instanceof Error ? error.message : ''),
    );
  return (
    <>
      <Tool label={words.helpful} path={THUMB} isPressed={given === 1} onClick={() => void rate(1)} />
      <Tool label={words.unhelpful} path={THUMB} isPressed={given === -1} class="is-down" onClick={() => void rate(-1)} />
    </>
  );
}

/** The hour of today, and otherwise the day as well; in full where one points at it. */
function Time({ at, scene: { around } }: Pick<ToolsProps, 'at' | 'scene'>) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date(around.now()).toDateString();
  const told = (style: Intl.DateTimeFormatOptions) => time.toLocaleString(around.locale, style);
  return (
    <time dateTime={time.toISOString()} title={told({ dateStyle: 'full', timeStyle: 'medium' })}>
      {told(isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  );
}

export function Tools({ scene, written, at, messageId, again, isNewest, isEditable }: ToolsProps) {
  const [note, setNote] = useState('');
  useEffect(() => {
    if (note === '') return undefined;
    const timer = setTimeout(() => setNote(''), NOTED_MS);
    return () => clearTimeout(timer);
  }, [note]);
  const { words, panel, around } = scene;
  const text = writtenOf(written);
  const copy = async () => setNote((await around.ask.copy(text)) ? around.words.copied : around.words.failed);
  return (
    <div class={isNewest ? 'tools is-newest' : 'tools'}>
      {text === '' ? null : (
        <Tool label={around.words.copy} path={note === around.words.copied ? DONE : COPY} onClick={() => void copy()} />
      )}
      {isEditable && text !== '' ? (
        <Tool label={words.editSaid} path={EDIT} onClick={() => panel.send({ type: 'edited', text: String(written) })} />
      ) : null}
      {again === undefined ? null : <Tool label={words.again} path={AGAIN} onClick={() => scene.say(again)} />}
      {messageId === undefined ? null : <Thumbs scene={scene} messageId={messageId} say={setNote} />}
      <Time at={at} scene={scene} />
      <span role="status">{note}</span>
    </div>
  );
}
