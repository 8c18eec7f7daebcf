/**
 * What is typed into a form and not saved yet. It is kept in the window's storage, so that nothing typed is lost by a reload, by a session that
 * ends or by a service that is away; it goes once it was saved or thrown away.
 */
import { useEffect, useState } from 'preact/hooks';

/** Values of a form's fields; all are JSON. */
export type Values = Readonly<Record<string, unknown>>;

/** A changed field: what was saved when it was touched, and what it is to be. */
interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

type Changes = Readonly<Record<string, Change>>;

export interface Draft<Form extends Values> {
  /** What is saved, as far as this page knows. */
  readonly saved: Form;
  readonly values: Form;
  readonly changed: readonly (keyof Form & string)[];
  readonly overtaken: readonly (keyof Form & string)[];
  set<Name extends keyof Form & string>(name: Name, value: Form[Name]): void;
  discard(): void;
  settle(sent: Partial<Form>): void;
}

export function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function storageKey(key: string): string {
  return `console.draft.${key}`;
}

function kept(key: string): Changes {
  try {
    const parsed: unknown = JSON.parse(sessionStorage.getItem(storageKey(key)) ?? '{}');
    return typeof parsed === 'object' && parsed !== null ? (parsed as Changes) : {};
  } catch {
    // A window that may keep nothing, or a text of another version.
    return {};
  }
}

function keep(key: string, changes: Changes): void {
  try {
    if (Object.keys(changes).length === 0) sessionStorage.removeItem(storageKey(key));
    else sessionStorage.setItem(storageKey(key), JSON.stringify(changes));
  } catch {
    // Full or forbidden: the page has it all the same.
  }
}

/** The draft called `key` over what is saved; fields that are untouched follow what is saved. */
export function useDraft<Form extends Values>(key: string, saved: Form): Draft<Form> {
  const [held, hold] = useState(() => ({ key, changes: kept(key) }));
  const changes = held.key === key ? held.changes : kept(key);
  useEffect(() => {
    if (held.key !== key) hold({ key, changes: kept(key) });
  }, [key, held.key]);
  const names = Object.keys(saved) as (keyof Form & string)[];
  const changed = names.filter((name) => Object.hasOwn(changes, name) && !isSame(changes[name]?.to, saved[name]));
  const values: Record<string, unknown> = { ...saved };
  for (const name of changed) values[name] = changes[name]?.to;
  const put = (change: (before: Changes) => Changes) =>
    hold((now) => {
      const next = change(now.key === key ? now.changes : kept(key));
      keep(key, next);
      return { key, changes: next };
    });
  return {
    saved,
    values: values as Form,
    changed,
    overtaken: changed.filter((name) => !isSame(changes[name]?.from, saved[name])),
    set(name, value) {
      put((before) => {
        const { [name]: touched, ...others } = before;
        if (isSame(value, saved[name])) return others;
        return { ...others, [name]: { from: touched === undefined ? saved[name] : touched.from, to: value } };
      });
    },
    discard: () => put(() => ({})),
    settle: (sent) =>
      put((before) => Object.fromEntries(Object.entries(before).filter(([name, { to }]) => !(name in sent && isSame(to, sent[name]))))),
  };
}
