/** The body of the thread that makes one SVG safe. Ends when it has answered. */
import { parentPort, workerData } from 'node:worker_threads';
import { Refusal } from '../../protocol/errors.ts';
import type { SvgTask, SvgVerdict } from './svg-messages.ts';
import { purifySvg } from './svg-purifier.ts';

async function judge({ text }: SvgTask): Promise<SvgVerdict> {
  try {
    return { kind: 'safe', svg: await purifySvg(text) };
  } catch (error) {
    // Anything else is a bug, and ends the thread with it.
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refused', code: error.code, message: error.message };
  }
}

parentPort?.postMessage(await judge(workerData as SvgTask));
