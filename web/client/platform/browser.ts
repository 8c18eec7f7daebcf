/** Surroundings of a page in a browser. Each is left out where the browser does not have it, or forbids it. */
import type { FileAnswer, KeptValues, SendFile, Surroundings, Tabs } from '../surroundings.ts';
import { everywhere, keptInMemory, sendByFetch } from './everywhere.ts';

interface UploadProgress {
  readonly lengthComputable: boolean;
  readonly loaded: number;
  readonly total: number;
}

interface FileExchange {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((progress: UploadProgress) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, address: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData): void;
  abort(): void;
}

interface PageStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

interface PageChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

interface PageEvents {
  addEventListener(type: string, listener: (event: object) => void): void;
  removeEventListener(type: string, listener: (event: object) => void): void;
}

export interface Page extends PageEvents {
  readonly document?: PageEvents & { readonly visibilityState: string };
  readonly localStorage?: PageStorage;
  readonly navigator?: {
    readonly locks?: { request(name: string, options: { readonly steal: boolean }, work: () => Promise<void>): Promise<unknown> };
  };
  readonly BroadcastChannel?: new (name: string) => PageChannel;
  readonly XMLHttpRequest?: new () => FileExchange;
}

/** Values of this site. Reading the property itself throws where a person forbids it. */
function keptOnPage(page: Page): KeptValues {
  let storage: PageStorage | undefined;
  try {
    storage = page.localStorage;
  } catch {
    storage = undefined;
  }
  if (storage === undefined) return keptInMemory();
  const values = storage;
  return {
    read: async (name) => values.getItem(name),
    write: async (name, value) => values.setItem(name, value),
    remove: async (name) => values.removeItem(name),
  };
}

function tabsOf(page: Page): Tabs | undefined {
  const locks = page.navigator?.locks;
  const Channel = page.BroadcastChannel;
  if (locks === undefined || Channel === undefined) return undefined;
  return {
    elect(name, onLead, onLost, steal = false) {
      let resign = (): void => {};
      const led = new Promise<void>((resolve) => {
        resign = resolve;
      });
      let isOver = false;
      const lead = (): void => {
        if (!isOver) onLead();
        isOver = true;
      };
      const work = (): Promise<void> => {
        lead();
        return led;
      };
      // The lock is held for as long as the promise is open, and goes with the tab, or to one that takes it. A sandboxed frame may hold none,
      // and shares nothing with others: it leads itself.
      locks.request(name, { steal }, work).catch(() => (isOver ? onLost?.() : lead()));
      return () => {
        isOver = true;
        resign();
      };
    },
    join(name, onMessage) {
      const channel = new Channel(name);
      channel.onmessage = ({ data }) => onMessage(data);
      return { post: (message) => channel.postMessage(message), close: () => channel.close() };
    },
  };
}

function sendOnPage(page: Page): SendFile {
  const Exchange = page.XMLHttpRequest;
  if (Exchange === undefined) return sendByFetch;
  return ({ address, headers, file, signal, onProgress }) =>
    new Promise<FileAnswer>((resolve, reject) => {
      if (signal.aborted) {
        reject(new TypeError('The upload was given up.'));
        return;
      }
      const form = new FormData();
      form.append('file', file.content as Blob, file.name);
      const exchange = new Exchange();
      exchange.open('POST', address);
      for (const [name, value] of Object.entries(headers)) exchange.setRequestHeader(name, value);
      exchange.upload.onprogress = ({ lengthComputable, loaded, total }) => {
        if (lengthComputable && total > 0) onProgress(loaded / total);
      };
      exchange.onload = () => {
        const answer = { get: (name: string) => exchange.getResponseHeader(name) };
        resolve({ status: exchange.status, headers: answer, text: exchange.responseText });
      };
      exchange.onerror = () => reject(new TypeError('The file could not be sent.'));
      exchange.onabort = () => reject(new TypeError('The upload was given up.'));
      signal.addEventListener('abort', () => exchange.abort());
      exchange.send(form);
    });
}

export function browser(given: Partial<Surroundings> = {}, page: Page = globalThis as unknown as Page): Surroundings {
  const tabs = tabsOf(page);
  return everywhere({ kept: keptOnPage(page), sendFile: sendOnPage(page), ...(tabs === undefined ? {} : { tabs }), ...given });
}

/** Calls `wake` whenever the network is back or the page is looked at again: give it `assistant.wake`. Returns what ends it. */
export function onWake(wake: () => void, page: Page = globalThis as unknown as Page): () => void {
  const looked = (): void => {
    if (page.document?.visibilityState === 'visible') wake();
  };
  page.addEventListener('online', wake);
  page.addEventListener('pageshow', wake);
  page.document?.addEventListener('visibilitychange', looked);
  return () => {
    page.removeEventListener('online', wake);
    page.removeEventListener('pageshow', wake);
    page.document?.removeEventListener('visibilitychange', looked);
  };
}

/**
 * Calls `suspend` when the page is left, and `resume` where the browser shows it again as it was (from its back/forward cache): give it those
 * of the assistant. Returns what ends it.
 */
export function onPutAway(suspend: () => void, resume: () => void, page: Page = globalThis as unknown as Page): () => void {
  const shown = (event: { readonly persisted?: boolean }): void => {
    if (event.persisted === true) resume();
  };
  page.addEventListener('pagehide', suspend);
  page.addEventListener('pageshow', shown);
  return () => {
    page.removeEventListener('pagehide', suspend);
    page.removeEventListener('pageshow', shown);
  };
}
