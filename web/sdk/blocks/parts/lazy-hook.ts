/** Parts of a drawing that are loaded when the first of them is shown. Where they cannot be, the rest of the drawing stays as it is. */
import { useEffect, useState } from 'preact/hooks';

/** What `load` brings; undefined before, and where it failed. `load` is the same function at every call. */
export function useLazy<T>(load: () => Promise<T>): T | undefined {
  const [module, setModule] = useState<{ readonly it: T }>();
  useEffect(() => {
    let isShown = true;
    load().then(
      (it) => isShown && setModule({ it }),
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [load]);
  return module?.it;
}
