/** What a page keeps in its address, so that the address is a link to what is shown. */

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
