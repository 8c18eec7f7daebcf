/** Tells the app what happens in the widget, each thing once (WIDGET-41), and counts answers that nobody has seen (WIDGET-42). */
import type { Assistant } from '../client/assistant.ts';
import type { LogRecord } from '../client/log.ts';
import type { WidgetEvent } from './options.ts';
import type { PageValues } from './state/page-values.ts';
import type { PanelStore } from './state/panel.ts';
import { happened } from './told.ts';

export type Listener = (event: WidgetEvent) => void;

export interface TellingParts {
  readonly assistant: Assistant;
  readonly panel: PanelStore;
  readonly values: PageValues;
  /** Under which the count is kept, for the next page and other tabs. */
  readonly name: string;
  readonly isInline: boolean;
}

export class Telling {
  readonly #parts: TellingParts;
  readonly #listeners: Set<Listener>;
  readonly #began = new Map<string, number>();
  readonly #sinceMs = Date.now();
  #unfollow: () => void = () => {};
  readonly #endings: (() => void)[] = [];

  constructor(parts: TellingParts, listeners: Set<Listener>) {
    this.#parts = parts;
    this.#listeners = listeners;
    const { assistant, panel, name } = parts;
    const counted = ({ key }: StorageEvent) => {
      if (key === name) panel.send({ type: 'counted', unread: this.#kept() });
    };
    window.addEventListener('storage', counted);
    panel.send({ type: 'counted', unread: this.#kept() });
    if (panel.get().context.isOpen) this.count(0);
    this.#follow();
    this.#endings.push(
      () => window.removeEventListener('storage', counted),
      assistant.onConversation((_, isAnothers) => {
        if (isAnothers) this.count(0);
        this.#follow();
      }),
    );
  }

  end(): void {
    this.#unfollow();
    for (const end of this.#endings) end();
  }

  /** A listener that throws is the app's own trouble: it shows in the console, and the others are told. */
  tell(event: WidgetEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }

  count(unread: number): void {
    const { panel, values, name } = this.#parts;
    if (panel.get().context.unread === unread) return;
    panel.send({ type: 'counted', unread });
    try {
      if (unread === 0) values.take(name);
      else values.set(name, String(unread));
    } catch {
      // Then the next page begins at nothing.
    }
    this.tell({ type: 'unread', count: unread });
  }

  #kept(): number {
    try {
      return Math.max(0, Number.parseInt(this.#parts.values.get(this.#parts.name) ?? '', 10) || 0);
    } catch {
      return 0;
    }
  }

  #follow(): void {
    this.#unfollow();
    const { conversation } = this.#parts.assistant;
    const { store } = conversation;
    let before = store.get().context;
    const isOwn = (tab: string | undefined) => conversation.isOwn(tab);
    const { unsubscribe } = store.subscribe(({ context }) => {
      const last = before;
      before = context;
      if (last.turns === context.turns && last.calls === context.calls) return;
      for (const event of happened(last, context, { isOwn, sinceMs: this.#sinceMs, nowMs: Date.now(), began: this.#began })) {
        this.tell(event);
        if (event.type === 'answer_ended' && event.status !== 'failed') this.#ended();
      }
    });
    this.#unfollow = unsubscribe;
  }

  #ended(): void {
    const { isOpen, unread } = this.#parts.panel.get().context;
    if (!isOpen && !this.#parts.isInline) this.count(unread + 1);
  }
}

/** Whoever builds with it sees what went wrong, and nothing else. */
export function toConsole({ level, code, message, details }: LogRecord): void {
  if (level === 'warn' || level === 'error') console[level](`[assistant] ${code}: ${message}`, details ?? '');
}
