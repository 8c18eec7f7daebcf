/**
 * Documents of strangers are read by the parsers' own processes, and end in text, a verdict or a LinkError,
 * whatever is done to their bytes. Each that ended its parser is counted: it is contained, and worth a look.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { examineLogo } from '../../assistant/images/images.ts';
import { extractDocument } from '../../assistant/knowledge/extraction.ts';
import { LinkError } from '../../assistant/knowledge/link-error.ts';
import { parsers as ownParsers, Parsers } from '../../assistant/parsers/parsers.ts';
import { Refusal } from '../../protocol/errors.ts';
import { caseNumbers, diceOf, FuzzFailure, SEED } from './cases.ts';
import { DOCUMENTS, RASTERS, SVG_SEEDS } from './documents.ts';
import { damaged } from './hostile.ts';

/** As long as an honest document may take on a busy machine; a parser ends by CPU time or memory before that. */
const TIMEOUT_MS = 20_000;
const LIMITS = { heapMaxMb: 128, dataMaxMb: 320, cpuMaxS: 5 };
const BRIEF_MS = 14_000;

const parsers = new Parsers({ limits: LIMITS, parsers: 1 });
after(async () => {
  await Promise.all([parsers.close(), ownParsers.close()]);
});

test('SAFE-4: pages and PDFs with damage anywhere end in text or in a sentence', async (t) => {
  const ends = new Map<string, number>();
  for (const number of caseNumbers({ full: 6_000, briefMs: BRIEF_MS })) {
    const dice = diceOf(number);
    const { mediaType, bytes } = dice.pick(DOCUMENTS);
    const given = damaged(dice, bytes);
    let end = 'text';
    try {
      const type = { mediaType, charset: dice.pick([undefined, 'utf-8', 'utf-16', 'shift_jis', 'x']) } as never;
      const options = { asker: 'org_1', inBackground: false, timeoutMs: TIMEOUT_MS };
      const { text } = await extractDocument(parsers, type, () => Uint8Array.from(given), options);
      if (text.trim() === '') throw new FuzzFailure(number, `${mediaType}: a text of blanks`, given);
    } catch (cause) {
      if (!(cause instanceof LinkError)) throw new FuzzFailure(number, `${mediaType}: ${String(cause)}`, given, { cause });
      end = cause.cause === undefined ? cause.message : `${cause.message} (its parser ended; case ${number})`;
    }
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  t.diagnostic(`seed ${SEED}: ${JSON.stringify(Object.fromEntries(ends))}`);
});

test('SAFE-4: logos with damage anywhere are refused, or are pictures', async (t) => {
  let kept = 0;
  let cases = 0;
  for (const number of caseNumbers({ full: 6_000, briefMs: BRIEF_MS })) {
    const dice = diceOf(number);
    const given = damaged(dice, dice.pick(dice.below(4) === 0 ? RASTERS : SVG_SEEDS).bytes);
    cases++;
    try {
      const logo = await examineLogo(given, 'org_1');
      kept++;
      const text = Buffer.from(logo.bytes).toString('latin1');
      assert.doesNotMatch(text, /<svg|<script|<foreignObject|javascript:|\son[a-z]+=|@import|<animate/i);
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw new FuzzFailure(number, `logo: ${String(cause)}`, given, { cause });
    }
  }
  t.diagnostic(`seed ${SEED}: ${cases} cases, ${kept} kept`);
});
