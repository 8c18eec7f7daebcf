/** Files on their way to the next message: what may be attached, how far each is, and giving one up (WIDGET-9). */
import { ATTACHMENTS_PER_TURN_MAX, UPLOAD_MAX_BYTES } from '../../../protocol/limits.ts';
import type { Assistant } from '../../client/assistant.ts';
import { failureOf } from '../../client/transport/failure.ts';
import type { BlockWords } from '../blocks/words.ts';
import { failureWords, filled } from '../blocks/words.ts';
import type { WidgetWords } from '../words.ts';
import type { PanelStore } from './panel.ts';

/** What the service takes, for the dialog that chooses files. */
export const ACCEPTED = 'image/png,image/jpeg,image/webp,image/gif,application/pdf,text/plain';

const MB = 1024 * 1024;

export class Attaching {
  readonly #assistant: Assistant;
  readonly #panel: PanelStore;
  readonly #words: WidgetWords & BlockWords;
  readonly #given = new Map<number, AbortController>();
  #next = 0;

  constructor(assistant: Assistant, panel: PanelStore, words: WidgetWords & BlockWords) {
    this.#assistant = assistant;
    this.#panel = panel;
    this.#words = words;
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const { files: waiting } = this.#panel.get().context;
      if (waiting.filter(({ problem }) => problem === undefined).length >= ATTACHMENTS_PER_TURN_MAX) {
        this.#refuse(file, filled(this.#words.tooManyFiles, { max: ATTACHMENTS_PER_TURN_MAX }));
        return;
      }
      if (file.size > UPLOAD_MAX_BYTES)
        this.#refuse(file, filled(this.#words.fileTooLarge, { name: file.name, max: UPLOAD_MAX_BYTES / MB }));
      else void this.#send(file);
    }
  }

  remove(key: number): void {
    this.#given.get(key)?.abort();
    this.#given.delete(key);
    this.#panel.send({ type: 'fileRemoved', key });
  }

  #refuse(file: File, problem: string): void {
    this.#panel.send({ type: 'fileAdded', file: { key: ++this.#next, name: file.name, share: 0, problem } });
  }

  async #send(file: File): Promise<void> {
    const key = ++this.#next;
    const given = new AbortController();
    this.#given.set(key, given);
    this.#panel.send({ type: 'fileAdded', file: { key, name: file.name, share: 0 } });
    const onProgress = (share: number) => this.#panel.send({ type: 'fileChanged', key, change: { share } });
    try {
      const { upload_id: uploadId } = await this.#assistant.upload(file, file.name, { onProgress, signal: given.signal });
      this.#panel.send({ type: 'fileChanged', key, change: { uploadId, share: 1 } });
    } catch (error) {
      if (given.signal.aborted) return;
      const problem = filled(this.#words.uploadFailed, { name: file.name, reason: failureWords(failureOf(error), this.#words) });
      this.#panel.send({ type: 'fileChanged', key, change: { problem } });
    } finally {
      this.#given.delete(key);
    }
  }
}
