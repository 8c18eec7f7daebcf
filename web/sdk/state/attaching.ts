/** Files on their way to the next message, and those that were sent: what may be attached, how far each is, giving one up (WIDGET-9), and pictures of them. */
import { ATTACHMENTS_PER_TURN_MAX, UPLOAD_MAX_BYTES } from '../../../protocol/limits.ts';
import type { Assistant } from '../../client/assistant.ts';
import { failureOf } from '../../client/transport/failure.ts';
import type { WidgetAsks } from '../asks.ts';
import type { BlockWords } from '../blocks/words.ts';
import { failureWords, filled } from '../blocks/words.ts';
import type { WidgetWords } from '../words.ts';
import type { PanelStore } from './panel.ts';

/** What the service takes, for the dialog that chooses files. */
const PICTURES = 'image/png,image/jpeg,image/webp,image/gif';
export const ACCEPTED = `${PICTURES},application/pdf,text/plain`;

const MB = 1024 * 1024;
/** Pictures that were sent and are held: each keeps a file of up to 20 MB from being let go. Of earlier ones the thread shows the name. */
const PICTURES_MAX = 24;

export interface SentFile {
  readonly name: string;
  /** Address of the picture in this page: the person's own file, so that nothing is loaded. */
  readonly picture?: string | undefined;
}

export class Attaching {
  readonly #assistant: Assistant;
  readonly #panel: PanelStore;
  words: WidgetWords & BlockWords;
  readonly #tell: WidgetAsks['tell'];
  readonly #given = new Map<number, AbortController>();
  /** What this page uploaded, by `upload_id`, oldest first. */
  readonly #sent = new Map<string, SentFile>();
  #next = 0;

  constructor(assistant: Assistant, panel: PanelStore, words: WidgetWords & BlockWords, tell: WidgetAsks['tell']) {
    this.#assistant = assistant;
    this.#panel = panel;
    this.words = words;
    this.#tell = tell;
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const { files: waiting } = this.#panel.get().context;
      if (waiting.filter(({ problem }) => problem === undefined).length >= ATTACHMENTS_PER_TURN_MAX) {
        this.#refuse(file, filled(this.words.tooManyFiles, { max: ATTACHMENTS_PER_TURN_MAX }));
        return;
      }
      if (file.size > UPLOAD_MAX_BYTES)
        this.#refuse(file, filled(this.words.fileTooLarge, { name: file.name, max: UPLOAD_MAX_BYTES / MB }));
      else void this.#send(file);
    }
  }

  remove(key: number): void {
    this.#given.get(key)?.abort();
    this.#given.delete(key);
    const file = this.#panel.get().context.files.find((each) => each.key === key);
    if (file?.picture !== undefined) URL.revokeObjectURL(file.picture);
    this.#sent.delete(file?.uploadId ?? '');
    this.#panel.send({ type: 'fileRemoved', key });
  }

  /** `name`: as the service tells it; a file of another page is known by that alone. */
  sent(uploadId: string, name = this.words.file): SentFile {
    return this.#sent.get(uploadId) ?? { name };
  }

  /** Gives up what waits, and lets go of every picture. */
  clear(): void {
    for (const { key } of this.#panel.get().context.files) this.remove(key);
    this.#letGo(0);
  }

  #letGo(most: number): void {
    for (const [uploadId, { name, picture }] of [...this.#sent]
      .filter((each) => each[1].picture !== undefined)
      .slice(0, -most || undefined)) {
      URL.revokeObjectURL(picture ?? '');
      this.#sent.set(uploadId, { name });
    }
  }

  #refuse(file: File, problem: string): void {
    this.#panel.send({ type: 'fileAdded', file: { key: ++this.#next, name: file.name, share: 0, problem } });
  }

  async #send(file: File): Promise<void> {
    const key = ++this.#next;
    const given = new AbortController();
    this.#given.set(key, given);
    const { name, size: bytes } = file;
    const beganMs = Date.now();
    const ended = (status: 'ok' | 'failed') => this.#tell({ type: 'upload_ended', status, bytes, ms: Date.now() - beganMs });
    const picture = PICTURES.split(',').includes(file.type) ? URL.createObjectURL(file) : undefined;
    this.#panel.send({ type: 'fileAdded', file: { key, name, picture, share: 0 } });
    const onProgress = (share: number) => this.#panel.send({ type: 'fileChanged', key, change: { share } });
    try {
      const { upload_id: uploadId } = await this.#assistant.upload(file, name, { onProgress, signal: given.signal });
      if (given.signal.aborted) return;
      this.#sent.set(uploadId, { name, picture });
      this.#letGo(PICTURES_MAX);
      this.#panel.send({ type: 'fileChanged', key, change: { uploadId, share: 1 } });
      ended('ok');
    } catch (error) {
      if (given.signal.aborted) return;
      const problem = filled(this.words.uploadFailed, { name, reason: failureWords(failureOf(error), this.words) });
      this.#panel.send({ type: 'fileChanged', key, change: { problem } });
      ended('failed');
    } finally {
      this.#given.delete(key);
    }
  }
}
