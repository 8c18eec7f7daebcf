/** What a client may fetch by itself (BLOCK-24). An address can tell what the model knows: one written whole by others, or trusted. */
import { CATALOG, SEARCH_KNOWLEDGE } from '../protocol/catalog/catalog.ts';
import { coversHost } from '../protocol/console/app-settings.ts';
import { ADDRESS_MAX_CHARS } from '../protocol/limits.ts';
import { PLACEHOLDER_OPENS } from '../protocol/placeholder.ts';
import type { ChatMessage, Passage } from './models/model.ts';

export interface Told {
  readonly messages: readonly ChatMessage[];
  readonly fromQuestion: number;
  readonly passages: readonly Passage[];
  readonly configuration: string;
}

/** More pictures of hosts that the app does not list no round shows: each is compared with what the model wrote before. */
const LOOKED_UP_MAX = 100;
/** What a model puts into the calls of a turn is some hundred characters; where it is more, what their results say is not looked through. */
const WRITTEN_MAX_CHARS = 100_000;

/** An address in a text or in JSON, up to what cannot stand in one as it is. Within another it is that one's parameter, and no address. */
const ADDRESS = /(?<![\w/=&?#%@~+.-])https:\/\/[^\s"\\<>^`{|}]+/gi;
/** What ends a sentence, a bracket or an emphasis, and not the address before it. */
const MARK = /[.,:;!?'*_~()[\]]/;
const MARKS_MAX = 8;
/** Scripts without blanks go on behind an address. */
const BEYOND_ASCII = /[^\x21-\x7e]/;

/** Each address that stands in `text`, and what it is without the words and marks behind it. */
function* addressesIn(text: string): Generator<string> {
  for (const [whole] of text.matchAll(ADDRESS)) {
    if (whole.length > ADDRESS_MAX_CHARS + MARKS_MAX) continue;
    const words = whole.search(BEYOND_ASCII);
    for (const address of words < 0 ? [whole] : [whole, whole.slice(0, words)]) {
      yield address;
      const least = address.length - MARKS_MAX;
      for (let end = address.length; end > least && MARK.test(address.charAt(end - 1)); end--) yield address.slice(0, end - 1);
    }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function folded(text: string): string {
  return text
    .replace(/(?:%[\da-f]{2})+/gi, decoded)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

function writtenIn({ name, arguments: json }: { readonly name: string; readonly arguments: string }): string {
  try {
    return `${name} ${JSON.stringify(JSON.parse(json))}`;
  } catch {
    return `${name} ${json}`;
  }
}

/** Each address that the turn was told, with what the model had written into calls before it, in earlier turns too: a backend may say its words again. */
function standing({ messages, fromQuestion, passages, configuration }: Told): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const take = (text: string, written: string) => {
    for (const address of addressesIn(text)) if (written === '' || !found.has(address)) found.set(address, written);
  };
  take(configuration, '');
  for (const { title, headings, text } of passages) take([title, ...headings, text].join('\n'), '');
  // Components are shown to the person alone: no server says their words again, and what is told of them is the model's own.
  let written = '';
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant')
      written += (message.toolCalls ?? [])
        .filter(({ name }) => !CATALOG.has(name))
        .map(writtenIn)
        .join(' ');
    // What a search finds is the app's own, whatever was looked for.
    else if (message.role === 'tool' && at >= fromQuestion && !CATALOG.has(message.name))
      take(message.content, message.name === SEARCH_KNOWLEDGE ? '' : written);
  }
  return found;
}

/** Whether the model named the host of the address, in any spelling. */
function names(said: string, address: string, { hostname }: URL): boolean {
  const authority = address.slice('https://'.length).split(/[/?#]/, 1)[0] ?? '';
  return said.includes(folded(authority)) || said.includes(folded(hostname));
}

/** Tells of an address whether a client may fetch it by itself. `hosts`: the app's own. What was told is read when it is first needed. */
export function fetchable(hosts: readonly string[], told: () => Told): (address: string) => boolean {
  let known: ReadonlyMap<string, string> | undefined;
  const folds = new Map<string, string>();
  let lookedUp = 0;
  return (address) => {
    if (address.includes(PLACEHOLDER_OPENS) || !URL.canParse(address)) return false;
    const url = new URL(address);
    if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
    if (hosts.some((host) => coversHost(host, url))) return true;
    if (++lookedUp > LOOKED_UP_MAX) return false;
    known ??= standing(told());
    const written = known.get(address);
    if (written === undefined || written.length > WRITTEN_MAX_CHARS) return false;
    if (written === '') return true;
    // A turn has as many of these as rounds, and each is long.
    const said = folds.get(written) ?? folded(written);
    folds.set(written, said);
    return !names(said, address, url);
  };
}
