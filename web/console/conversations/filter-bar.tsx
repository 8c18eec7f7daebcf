/** The choices above the list of conversations; each is in the address, so that a list is a link and Back takes a choice back. */

import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { Button } from '../parts/card.tsx';
import { type ChoiceProps, Select } from '../parts/choices.tsx';
import { stateWords } from '../parts/states.ts';
import { addressWith, CHOICES, type Choices, localOf, momentIn, SPANS, STATES } from './filter.ts';

function Choice(props: ChoiceProps<string>) {
  return <Select {...props} look={props.value === '' ? 'select' : 'select is-chosen'} />;
}

interface MomentProps {
  readonly label: string;
  readonly moment: string | undefined;
  readonly onChange: (moment: string | undefined) => void;
}

function Moment({ label, moment, onChange }: MomentProps) {
  return (
    <label class="row">
      {label}
      <input
        class="input"
        type="datetime-local"
        value={localOf(moment)}
        onChange={(event) => onChange(momentIn(event.currentTarget.value))}
      />
    </label>
  );
}

const BETWEEN = 'between';
/** How far back a time that is chosen by its moments begins. */
const BETWEEN_BEGINS_MS = 86_400_000;

interface FilterBarProps {
  readonly base: string;
  readonly choices: Choices;
  /** Before the choices. */
  readonly children: ComponentChildren;
}

export function FilterBar({ base, choices, children }: FilterBarProps) {
  const { route } = useLocation();
  const choose = (change: Choices) => route(addressWith(base, { ...choices, ...change }));
  const isBetween = choices.since === undefined && (choices.from !== undefined || choices.to !== undefined);
  const { from = '', to = '' } = choices;
  const chooseTime = (value: string) => {
    const begin = value === BETWEEN ? new Date(Date.now() - BETWEEN_BEGINS_MS).toISOString() : '';
    choose({ since: value === BETWEEN ? '' : value, from: begin, to: '' });
  };
  // Each digit of a moment is a change: they are no steps to go back by.
  const setMoment = (change: Choices) => route(addressWith(base, { ...choices, ...change }), true);
  return (
    <search class="filter-bar">
      {children}
      <Choice
        label="When"
        value={isBetween ? BETWEEN : (choices.since ?? '')}
        options={[['', 'at any time'], ...SPANS.map(({ value, label }) => [value, label] as const), [BETWEEN, 'between …']]}
        onChange={chooseTime}
      />
      {isBetween && (
        <>
          <Moment label="from" moment={from} onChange={(moment) => setMoment({ from: moment ?? '' })} />
          <Moment label="to" moment={to} onChange={(moment) => setMoment({ to: moment ?? '' })} />
        </>
      )}
      <Choice
        label="Newest turn"
        value={choices.state ?? ''}
        options={[['', 'any status'], ...STATES.map((state) => [state, stateWords(state)] as const)]}
        onChange={(state) => choose({ state })}
      />
      <Choice
        label="Thumbs"
        value={choices.rating ?? ''}
        options={[
          ['', 'any feedback'],
          ['-1', 'not helpful'],
          ['1', 'helpful'],
        ]}
        onChange={(rating) => choose({ rating })}
      />
      <Choice
        label="Environment"
        value={choices.channel ?? ''}
        options={[
          ['', 'live and test'],
          ['live', 'live'],
          ['sandbox', 'test'],
        ]}
        onChange={(channel) => choose({ channel })}
      />
      {CHOICES.some((name) => choices[name] !== undefined) && <Button label="Show all" href={base} />}
    </search>
  );
}
