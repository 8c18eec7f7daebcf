/** A form: what is typed into it, how it is saved, and what the service refused of it, told at the field. */
import { type Act, useAct } from '../api/act-hook.ts';
import type { ErrorDetail } from '../api/request.ts';
import { type Draft, useDraft, type Values } from './draft-hook.ts';

export interface Form<Fields extends Values> extends Draft<Fields> {
  readonly act: Act;
  /** Sends what was changed; the draft goes when the service has it. */
  save(): void;
  /** What is wrong with the field, as the service says it; '' when nothing is. */
  faultOf(name: string): string;
}

function isAt({ path }: ErrorDetail, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
}

/**
 * A form called `key`, for its draft, over what is saved. `send` gets what was changed and all values; it throws an ApiError when the service
 * refuses, and updates what is saved before it returns.
 */
export function useForm<Fields extends Values>(
  key: string,
  saved: Fields,
  send: (changes: Partial<Fields>, values: Fields) => Promise<unknown>,
): Form<Fields> {
  const draft = useDraft(key, saved);
  const act = useAct();
  return {
    ...draft,
    act,
    save() {
      const changes: Partial<Fields> = {};
      for (const name of draft.changed) changes[name] = draft.values[name];
      act.run(async () => {
        await send(changes, draft.values);
        draft.settle(changes);
      });
    },
    discard() {
      act.forget();
      draft.discard();
    },
    faultOf: (name) => {
      const faults = act.error?.details.filter((detail) => isAt(detail, name)) ?? [];
      return faults.map(({ path, message }) => (path === name ? message : `${path} ${message}`)).join('; ');
    },
  };
}
