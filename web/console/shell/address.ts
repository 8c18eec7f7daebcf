/** What a page keeps in its address, so that the address is a link to what is shown. */
import { useLocation, useRoute } from 'preact-iso';

/**
 * Sets parameters of the address, and takes those away that are undefined. The entry of the history is replaced: going back leaves the page, and
 * undoes nothing on it.
 */
export function replaceAddress(parameters: Readonly<Record<string, string | undefined>>): void {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.replaceState(history.state, '', address);
}

export type Go = (changed: Readonly<Record<string, string | undefined>>, replace?: boolean) => void;

/** Changes the parameters of this page's address as a navigation: Back goes to what was shown before, unless it is replaced. */
export function useGo(): Go {
  const { query } = useRoute();
  const { path, route } = useLocation();
  return (changed, replace = false) => {
    const kept = Object.entries({ ...query, ...changed }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = new URLSearchParams(kept).toString();
    route(search === '' ? path : `${path}?${search}`, replace);
  };
}
