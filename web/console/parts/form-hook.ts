/** A form: what is typed into it, how it is saved, and what the service refused of it, told at the field. */
import { useRef } from 'preact/hooks';
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

const TOLD_AT_FIELDS = 'Nothing was saved. What is wrong is said at each field above.';

function isAt({ path }: ErrorDetail, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
}

/** `[1].email` as people count: `line 2, email `; '' for the field itself. */
function placeIn(rest: string): string {
  const words = [...rest.matchAll(/\[(\d+)\]|\.?([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? name : `line ${Number(index) + 1}`,
  );
  return words.length === 0 ? '' : `${words.join(', ')} `;
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
  // Names that fields asked about: what is told there is not told again at the button.
  const told = useRef(new Set<string>());
  const { error } = act;
  const isTold =
    error !== undefined && error.details.length > 0 && error.details.every((one) => [...told.current].some((name) => isAt(one, name)));
  const shown = isTold ? new ApiError(error.code, TOLD_AT_FIELDS, error.status, { requestId: error.requestId ?? null }) : error;
  return {
    ...draft,
    act: { ...act, error: shown },
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
      told.current.add(name);
      const faults = error?.details.filter((detail) => isAt(detail, name)) ?? [];
      return faults.map(({ path, message }) => `${placeIn(path.slice(name.length))}${message}`).join('; ');
    },
  };
}
