/** What of the widget is open, and the files that wait for the next message. */
import { createStore } from '@xstate/store';

export interface WaitingFile {
  readonly key: number;
  readonly name: string;
  /** Address of the picture, of the person's own file. */
  readonly picture?: string | undefined;
  /** Share that is sent, from 0 to 1. */
  readonly share: number;
  readonly uploadId?: string;
  /** Why it was not sent, in words. */
  readonly problem?: string;
}

export interface Offer {
  readonly question: string;
  answer(isYes: boolean): void;
}

interface PanelState {
  readonly isOpen: boolean;
  readonly files: readonly WaitingFile[];
  /** The last thing that is said to whoever cannot see the thread. */
  readonly said: string;
  readonly isOnline: boolean;
  /** Words that are put into the field, to be changed and sent anew. */
  readonly edit: string;
  /** What the app would attach, if the person says yes. */
  readonly offer?: Offer | undefined;
  readonly unread: number;
  /** Another number for each person: what one began to write is not the next one's. */
  readonly person: number;
}

export function createPanelStore(isOpen: boolean) {
  const context: PanelState = { isOpen, files: [], said: '', isOnline: navigator.onLine, edit: '', person: 0, unread: 0 };
  return createStore({
    context,
    on: {
      toggled: (now, { isOpen: open }: { isOpen: boolean }): PanelState => ({ ...now, isOpen: open }),
      fileAdded: (now, { file }: { file: WaitingFile }): PanelState => ({ ...now, files: [...now.files, file] }),
      fileChanged: (now, { key, change }: { key: number; change: Partial<WaitingFile> }): PanelState => ({
        ...now,
        files: now.files.map((file) => (file.key === key ? { ...file, ...change } : file)),
      }),
      fileRemoved: (now, { key }: { key: number }): PanelState => ({ ...now, files: now.files.filter((file) => file.key !== key) }),
      personChanged: (now): PanelState => ({ ...now, files: [], offer: undefined, unread: 0, person: now.person + 1 }),
      offered: (now, { offer }: { offer: Offer | undefined }): PanelState => ({ ...now, offer }),
      counted: (now, { unread }: { unread: number }): PanelState => ({ ...now, unread }),
      filesSent: (now): PanelState => ({ ...now, files: now.files.filter(({ problem }) => problem !== undefined) }),
      said: (now, { text }: { text: string }): PanelState => (now.said === text ? now : { ...now, said: text }),
      edited: (now, { text }: { text: string }): PanelState => ({ ...now, edit: text }),
      network: (now, { isOnline }: { isOnline: boolean }): PanelState => ({ ...now, isOnline }),
    },
  });
}

export type PanelStore = ReturnType<typeof createPanelStore>;
