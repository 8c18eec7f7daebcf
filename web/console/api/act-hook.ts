/** Something that a button asks of the service: whether it is under way, and what went wrong, for the place where the button is. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from './request.ts';

export interface Act {
  readonly isUnderWay: boolean;
  readonly error: ApiError | undefined;
  /** Does it, unless something is under way here already. */
  run(work: () => Promise<unknown>): void;
  forget(): void;
}

export function useAct(): Act {
  const [state, hold] = useState<{ readonly isUnderWay: boolean; readonly error?: ApiError }>({ isUnderWay: false });
  const isBusy = useRef(false);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return {
    isUnderWay: state.isUnderWay,
    error: state.error,
    run(work) {
      if (isBusy.current) return;
      isBusy.current = true;
      hold({ isUnderWay: true });
      work()
        .then(
          () => ({}),
          (error: unknown) => ({ error: asApiError(error) }),
        )
        .then((end) => {
          isBusy.current = false;
          if (isShown.current) hold({ isUnderWay: false, ...end });
        });
    },
    forget: () => hold(({ isUnderWay }) => ({ isUnderWay })),
  };
}
