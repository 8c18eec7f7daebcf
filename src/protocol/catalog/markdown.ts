/**
 * Markdown from the model, made harmless: CommonMark without HTML, and only http(s) links (catalog.md "Rules").
 * It repairs and never refuses, because an answer that was already streamed cannot be asked for again.
 * Code keeps every character: nothing in it is a tag or a link.
 */

/** A line that opens or closes fenced code: up to three blanks, then the fence. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** `](destination "title")`, the destination with or without angle brackets; bounded, so that reading stays linear. */
const LINK = /\]\(\s{0,9}(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)(?=[\s<>)]))[^()]{0,300}\)/g;
/** What still begins a link after that: in anything but http(s), with a destination or a neighbour too odd for LINK. */
const ODD_LINK = /\]\((?!\s*(?:https?:\/\/|<https?:\/\/[^\s<>[\]]*>))/gi;
/** `[label]: destination`, the definition of a reference, also inside lists and quotes. */
const DEFINITION = /^[\s>*+\-\d.)]*\[[^\]\n]+\]:\s*(\S*)/;
/** What HTML begins with: a tag, a closing tag, a comment, a declaration; not an autolink (square brackets are encoded in one). */
const TAG = /<(?=[A-Za-z/!?])(?!https?:\/\/[^\s<>[\]]*>)/gi;
/** Look like opening brackets, are none. */
const HARMLESS_ANGLE = '‹';
const HARMLESS_ROUND = '❨';

function isWebLink(destination: string): boolean {
  return /^(?:https?:\/\/|<https?:\/\/[^\s<>[\]]*>)/i.test(destination);
}

/** Text outside code: other links lose their address and keep their label, tags lose their bracket. */
function defuseProse(prose: string): string {
  const tagless = prose.replaceAll(TAG, HARMLESS_ANGLE);
  const linked = tagless.replaceAll(LINK, (whole: string, bracketed: string | undefined, bare: string | undefined, at: number) => {
    if (isWebLink(bracketed ?? bare ?? '')) return whole;
    // With the address gone, what follows could turn the label into another link or a definition: then it is kept, defused below.
    return /[:([]/.test(tagless.charAt(at + whole.length)) ? whole : ']';
  });
  return linked.replaceAll(ODD_LINK, `]${HARMLESS_ROUND}`);
}

/** One paragraph's worth of text: code spans (a run of backticks up to the next run as long) stay as they are. */
function defuseInline(source: string): string {
  let out = '';
  let from = 0;
  const runs = [...source.matchAll(/`+/g)];
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index];
    if (open === undefined || open.index < from) continue;
    const close = runs.slice(index + 1).find((run) => run[0].length === open[0].length);
    if (close === undefined) continue;
    const end = close.index + close[0].length;
    out += defuseProse(source.slice(from, open.index)) + source.slice(open.index, end);
    from = end;
  }
  return out + defuseProse(source.slice(from));
}

/**
 * `md` without HTML and without links that are not http(s). Idempotent, and never longer than it was.
 * An unclosed fence counts as code to the end, as CommonMark reads it.
 */
export function defuseMarkdown(md: string): string {
  const out: string[] = [];
  let paragraph: string[] = [];
  let fence: string | undefined;
  const flush = () => {
    if (paragraph.length > 0) out.push(defuseInline(paragraph.join('\n')));
    paragraph = [];
  };
  for (const line of md.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      out.push(line);
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    } else if (mark !== undefined) {
      flush();
      fence = mark;
      out.push(line);
    } else if (line.trim() === '') {
      flush();
      out.push(line);
    } else {
      const destination = DEFINITION.exec(line)?.[1];
      // Without its colon a definition is prose, and so are its references.
      paragraph.push(destination === undefined || isWebLink(destination) ? line : line.replace(/\]:+/, ']'));
    }
  }
  flush();
  return out.join('\n');
}
