/** What a parser process says of an SVG: its safe form, or why it is refused. */
import { Refusal } from '../../protocol/errors.ts';
import type { SvgVerdict } from './svg-messages.ts';
import { purifySvg } from './svg-purifier.ts';

/** `text` has no XML declaration and no DOCTYPE. @throws what a bug or a hostile document threw. */
export async function judgeSvg(text: string): Promise<SvgVerdict> {
  try {
    return { kind: 'safe', svg: await purifySvg(text) };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}
