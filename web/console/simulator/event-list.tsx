/** Every event of the machine at this moment: enabled or not, and why; with a payload to choose among samples or to write. */
import { useId, useMemo, useState } from 'preact/hooks';
import { payloadFault } from '../../../machines/simulator/payload.ts';
import type { SampleEvent } from '../../../machines/simulator/samples.ts';
import { judge, type Moment, type Verdict } from '../../../machines/simulator/verdict.ts';
import type { SimulatedMachine } from '../../../machines/simulator/walk.ts';
import { payloadWords } from './leaves.ts';
import { Questions } from './step-card.tsx';
import { canSend, isEnabled, outcomeWords } from './words.ts';

interface EventListProps {
  readonly simulated: SimulatedMachine;
  readonly now: Moment;
  readonly onSend: (event: SampleEvent) => void;
}

export function EventList({ simulated, now, onSend }: EventListProps) {
  return (
    <ol class="events">
      {Object.entries(simulated.samples.events).map(([type, samples]) => (
        <EventItem key={type} type={type} samples={samples} simulated={simulated} now={now} onSend={onSend} />
      ))}
    </ol>
  );
}

interface EventItemProps extends EventListProps {
  readonly type: string;
  readonly samples: readonly SampleEvent[];
}

type Choice = number | 'own';

interface OwnPayload {
  readonly event?: SampleEvent;
  readonly fault?: string;
}

function readOwn(text: string, type: string, samples: readonly SampleEvent[]): OwnPayload {
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    return { fault: 'This is not JSON.' };
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return { fault: 'The payload must be an object.' };
  const event: SampleEvent = { ...payload, type };
  const fault = payloadFault(event, samples);
  return fault === undefined ? { event } : { fault };
}

function payloadText({ type: _, ...payload }: SampleEvent): string {
  return JSON.stringify(payload, null, 2);
}

function EventItem({ type, samples, simulated, now, onSend }: EventItemProps) {
  const verdicts = useMemo(() => samples.map((sample) => judge(simulated.machine, now, sample)), [simulated, now, samples]);
  // Until somebody chooses: the samples begin with the ordinary one.
  const [chosen, choose] = useState<Choice>();
  const [text, write] = useState('');
  const choice = chosen ?? Math.max(verdicts.findIndex(canSend), 0);
  const own: OwnPayload = choice === 'own' ? readOwn(text, type, samples) : {};
  const event = choice === 'own' ? own.event : samples[choice];
  const verdict = choice === 'own' ? event && judge(simulated.machine, now, event) : verdicts[choice];
  const hasPayload = samples.some((sample) => payloadWords(sample) !== '');
  const pick = (next: Choice) => {
    if (next === 'own') write(payloadText(samples[choice === 'own' ? 0 : choice] ?? { type }));
    choose(next);
  };
  return (
    <li class={`event ${verdict === undefined ? 'is-broken' : `is-${verdict.outcome}`}`}>
      <SendButton type={type} verdict={verdict} onSend={() => event !== undefined && onSend(event)} />
      {hasPayload && <PayloadChoice type={type} samples={samples} verdicts={verdicts} choice={choice} onPick={pick} />}
      {choice === 'own' && <PayloadText type={type} text={text} fault={own.fault} onWrite={write} />}
      {verdict?.outcome === 'guarded' && <Questions verdict={verdict} />}
      {verdict !== undefined && isEnabled(verdict) && verdict.asked.some(({ questions }) => questions.length > 0) && (
        <details class="why">
          <summary>Why</summary>
          <Questions verdict={verdict} />
        </details>
      )}
    </li>
  );
}

interface SendButtonProps {
  readonly type: string;
  /** Undefined: the payload cannot be read. */
  readonly verdict: Verdict | undefined;
  readonly onSend: () => void;
}

function SendButton({ type, verdict, onSend }: SendButtonProps) {
  return (
    <button type="button" class="event-send" disabled={verdict === undefined || !canSend(verdict)} onClick={onSend}>
      <span class="event-name">{type}</span>
      <span class="event-outcome">{verdict === undefined ? 'see its payload' : outcomeWords(verdict)}</span>
    </button>
  );
}

interface PayloadChoiceProps {
  readonly type: string;
  readonly samples: readonly SampleEvent[];
  readonly verdicts: readonly Verdict[];
  readonly choice: Choice;
  readonly onPick: (choice: Choice) => void;
}

function PayloadChoice({ type, samples, verdicts, choice, onPick }: PayloadChoiceProps) {
  return (
    <select
      class="select"
      aria-label={`Payload of ${type}`}
      value={String(choice)}
      onChange={({ currentTarget: { value } }) => onPick(value === 'own' ? value : Number(value))}
    >
      {samples.map((sample, index) => {
        const verdict = verdicts[index];
        return (
          <option key={payloadWords(sample)} value={String(index)}>
            {payloadWords(sample)}
            {verdict === undefined ? '' : `  (${outcomeWords(verdict)})`}
          </option>
        );
      })}
      <option value="own">Write your own …</option>
    </select>
  );
}

interface PayloadTextProps {
  readonly type: string;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onWrite: (text: string) => void;
}

function PayloadText({ type, text, fault, onWrite }: PayloadTextProps) {
  const message = useId();
  return (
    <>
      <textarea
        class="input mono payload"
        rows={Math.min(text.split('\n').length, 12)}
        spellcheck={false}
        aria-label={`Payload of ${type} as JSON`}
        aria-invalid={fault !== undefined}
        aria-describedby={message}
        value={text}
        onInput={(event) => onWrite(event.currentTarget.value)}
      />
      <p id={message} class="fault">
        {fault ?? ''}
      </p>
    </>
  );
}
