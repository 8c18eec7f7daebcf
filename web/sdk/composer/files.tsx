/** The files of the next message: how far each is, and what is wrong with it. */
import { filled } from '../blocks/words.ts';
import type { Scene } from '../scene.ts';
import type { WaitingFile } from '../state/panel.ts';

export function Files({ files, scene }: { readonly files: readonly WaitingFile[]; readonly scene: Scene }) {
  const { words, attaching } = scene;
  if (files.length === 0) return null;
  return (
    <ul class="files">
      {files.map(({ key, name, share, uploadId, problem }) => (
        <li key={key} class={problem === undefined ? 'file' : 'file is-bad'}>
          <span class="file-name">{problem ?? name}</span>
          {problem === undefined && uploadId === undefined ? (
            <progress value={share} max={1} aria-label={filled(words.uploading, { name, percent: Math.round(share * 100) })} />
          ) : null}
          <button type="button" class="file-remove" aria-label={filled(words.removeFile, { name })} onClick={() => attaching.remove(key)}>
            <svg viewBox="0 0 24 24" aria-hidden="true" class="icon">
              <path d="M7 7l10 10M17 7L7 17" />
            </svg>
          </button>
        </li>
      ))}
    </ul>
  );
}
