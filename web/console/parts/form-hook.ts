/** A form: what is typed into it, how it is saved, and what the service refused of it, told at the field. */
import { type Act, useAct } from '../api/act-hook.ts';
import { ApiError, type ErrorDetail } from '../api/request.ts';
import { type Draft, isSame, useDraft, type Values } from './draft-hook.ts';

export interface Form<Fields extends Values> extends Draft<Fields> {
  readonly act: Act;
  save(): void;
  faultOf(name: string): string;
}

interface Others<Fields extends Values> {
  /** What is saved now. @throws ApiError */
  read(): Promise<Fields>;
  reload(): void;
}

const SAVED_MEANWHILE = 'Somebody else saved this meanwhile, so nothing of yours was saved yet. See what they wrote below.';

function isAt({ path }: ErrorDetail, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
}

/**
 * A form called `key`, for its draft, over what is saved. `send` gets what was changed and all values; it throws an ApiError when the service
 * refuses, and updates what is saved before it returns. With `others`, a field that one of them saved since this page read it stops the saving, once:
 the page shows theirs, and saving again is meant. The others' fields that nobody touched here are kept.
 */
export function useForm<Fields extends Values>(
  key: string,
  saved: Fields,
  send: (changes: Partial<Fields>, values: Fields) => Promise<unknown>,
  others?: Others<Fields>,
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
        const now = await others?.read();
        const isOvertaken = ([name, value]: [string, unknown]) =>
          now !== undefined && !isSame(now[name], saved[name]) && !isSame(now[name], value);
        if (Object.entries(changes).some(isOvertaken)) {
          others?.reload();
          throw new ApiError('saved_meanwhile', SAVED_MEANWHILE, 0);
        }
        await send(changes, { ...(now ?? draft.values), ...changes });
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
