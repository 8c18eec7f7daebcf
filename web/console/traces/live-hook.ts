/** The traces that a query names, as they grow: read once, then step by step from the stream. */
import { useEffect, useState } from 'preact/hooks';
import { useAsked } from '../api/asked-hook.ts';
import { type StreamedStep, type Trace, type TracesAnswer, tracesOf, withStep } from './traces.ts';

/** States that an instance leaves no more; a machine that is not here may always go on. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  'chat-turn': ['completed', 'continued'],
  invocation: ['succeeded', 'failed', 'declined', 'expired', 'unknown'],
  'setup-session': ['completed', 'failed', 'cancelled', 'expired'],
};

function isOver(traces: readonly Trace[]): boolean {
  return traces.every(({ machine, steps }) => ENDS[machine]?.includes(steps.at(-1)?.to ?? '') === true);
}

export function useLiveTraces(app: string, query: string) {
  const path = `/apps/${encodeURIComponent(app)}/traces`;
  const { answer, error, reload } = useAsked<TracesAnswer>(`${path}?${query}`);
  const [traces, hold] = useState<readonly Trace[]>();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (answer === undefined) return undefined;
    hold(tracesOf(answer));
    // The browser opens it again by itself when it breaks; it begins with what is kept, which is left out here.
    const stream = new EventSource(`/console/api${path}/stream?${query}`);
    stream.addEventListener('open', () => setLive(true));
    stream.addEventListener('error', () => setLive(false));
    stream.addEventListener('step', (event) => {
      const step = JSON.parse(event.data) as StreamedStep;
      hold((before = []) => withStep(before, step));
    });
    return () => stream.close();
  }, [answer]);
  return { traces, words: answer?.words ?? '', error, isLive, isOver: traces !== undefined && isOver(traces), reload };
}
