/** Where a link leads, when its words do not say so. */
import { isWebUrl } from '../../../../protocol/catalog/text-checks.ts';

/**
 * The host that a web address leads to, where `words`, which a person presses, are not the address or its host themselves: it is to be shown
 * with them (BLOCKVIEW-14). As a browser spells it, in ASCII, so that no letter of another script passes for it.
 */
export function unsaidHost(address: string, words: string): string | undefined {
  if (!isWebUrl(address)) return undefined;
  const { host } = new URL(address);
  const [said] = words
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split(/[/?#]/);
  return said === host ? undefined : host;
}
