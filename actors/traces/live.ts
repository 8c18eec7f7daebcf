/** An instance's trace as a stream, read from rows at a steady pace: a turn costs the same with and without an audience. */

import { stepJson } from '../../machines/trace-file.ts';
import { type FrameSlice, type FrameSource, frame, PING_COMMENT } from '../frame-source.ts';
import type { InstanceTrace } from './instances.ts';

/** Fast enough for eyes; a read takes a tenth of a millisecond. */
const LOOK_MS = 200;
/** Looks between two signs of life. */
const LOOKS_PER_PING = 75;

interface Told {
  readonly machine: string;
  readonly instance: string;
  readonly version: string;
  readonly step: number;
}

/** Data of the steps that were not told yet, in the order of their times; `told` counts them by instance. */
function framesOf(traces: readonly InstanceTrace[], told: Map<string, number>, maxChars: number): readonly string[] {
  const fresh = traces
    .flatMap(({ machine, instance, version, steps }) =>
      steps.slice(told.get(`${machine} ${instance}`) ?? 0).map((step, index) => {
        const about: Told = { machine, instance, version, step: (told.get(`${machine} ${instance}`) ?? 0) + index + 1 };
        return { about, step };
      }),
    )
    .sort((a, b) => a.step.atMs - b.step.atMs);
  const texts: string[] = [];
  let chars = 0;
  for (const { about, step } of fresh) {
    if (chars >= maxChars) break;
    const text = JSON.stringify({ ...about, ...stepJson(step), node: step.node });
    texts.push(text);
    chars += text.length;
    told.set(`${about.machine} ${about.instance}`, about.step);
  }
  return texts;
}

/** A stream of the steps that `read` gives, from the first on. It ends when nothing is kept any more, and not with a turn, which may be tried again. */
export function liveSource(read: () => readonly InstanceTrace[]): FrameSource {
  const told = new Map<string, number>();
  let looks = 0;
  return {
    read(seq, maxChars): FrameSlice {
      let nextSeq = seq;
      let text = '';
      const traces = read();
      // Erased, or deleted because of its age.
      if (traces.length === 0) return { text, nextSeq, ended: true };
      for (const data of framesOf(traces, told, maxChars)) {
        text += frame('step', data, nextSeq);
        nextSeq += 1;
      }
      if (text === '' && looks >= LOOKS_PER_PING) text = PING_COMMENT;
      if (text !== '') looks = 0;
      return { text, nextSeq, ended: false };
    },
    subscribe(wake) {
      const timer = setInterval(() => {
        looks += 1;
        wake();
      }, LOOK_MS).unref();
      return () => clearInterval(timer);
    },
  };
}
