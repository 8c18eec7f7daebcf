/** Blocks that people answer: options, forms, and cards that ask before something is changed. */
import { useEffect, useState } from 'react';
import { View } from 'react-native';
import type { Block } from '../../protocol/catalog/block.ts';
import { submissionProblems } from '../../protocol/catalog/form-submission.ts';
import type { BodyOf } from '../client/conversation/answer-blocks.ts';
import type { Call } from '../client/conversation/calls.ts';
import type { Failure } from '../client/transport/failure.ts';
import { type CardField, outcomeOf, plain, textOf, typedValue } from '../sdk/blocks/card-values.ts';
import { type Problems, problemsOf, submittedOf, type Values } from '../sdk/blocks/form-values.ts';
import { leftWords } from '../sdk/blocks/parts/formats.ts';
import { failureWords, filled } from '../sdk/blocks/words.ts';
import { useScene } from './hooks.ts';
import { Button, Field, Row, Words } from './look.tsx';
import type { Pick } from './parts.ts';

/** What the person answered, while it is on its way and when it was not taken. */
export type Answered =
  | { readonly phase: 'sending'; readonly ids?: readonly string[] }
  | { readonly phase: 'failed'; readonly failure: Failure };

export interface AnswerState {
  readonly block: Block;
  readonly answer: Answered | undefined;
  readonly call: Call | undefined;
}

interface Answerable {
  readonly status?: unknown;
  readonly selected_ids?: readonly string[];
}

function Note({ block, answer }: Parts<'block' | 'answer'>) {
  const { words } = useScene();
  const { status } = block.body as Answerable;
  if (answer?.phase === 'failed') return <Words is="bad">{failureWords(answer.failure, words) || words.failed}</Words>;
  if (answer?.phase === 'sending') return <Words is="muted">{words.sending}</Words>;
  if (status === 'superseded') return <Words is="muted">{words.superseded}</Words>;
  return status === 'answered' ? <Words is="good">{words.answered}</Words> : null;
}

type Parts<K extends keyof AnswerState> = { readonly [P in K]: AnswerState[P] };

export function PickView({ part, block, answer }: { readonly part: Pick } & Parts<'block' | 'answer'>) {
  const { ask, words } = useScene();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [said, setSaid] = useState('');
  const { status, selected_ids: selected = [] } = block.body as Answerable;
  const isOpen = status === 'open' && answer?.phase !== 'sending';
  const shown = isOpen ? chosen : ((answer?.phase === 'sending' ? answer.ids : undefined) ?? selected);
  const labels = new Map(part.groups.flatMap(({ options }) => options.map(({ id, label }) => [id, label] as const)));
  const send = (ids: readonly string[]) => {
    const own = said.trim() === '' ? undefined : said.trim();
    if (part.isRating) ask.rate(block, Number(ids[0]), own);
    else
      ask.choose(block, ids, [...ids.map((id) => labels.get(id)), part.other?.isComment ? undefined : own].filter(Boolean).join(', '), own);
  };
  const press = (id: string, group: readonly { readonly id: string }[]) => {
    const others = part.max === 1 ? [] : part.oneOfEach ? chosen.filter((each) => !group.some((option) => option.id === each)) : chosen;
    const next = chosen.includes(id) && part.max > 1 ? chosen.filter((each) => each !== id) : [...others, id];
    setChosen(next);
    if (part.isDirect && part.other === undefined) send(next);
  };
  const count = chosen.length + (part.other?.isComment === false && said.trim() !== '' ? 1 : 0);
  const canSend = isOpen && count >= Math.max(1, part.min) && count <= part.max && (part.fits?.(chosen) ?? true);
  const role = part.isDirect ? 'button' : part.max === 1 || part.oneOfEach ? 'radio' : 'checkbox';
  return (
    <View style={{ gap: 8 }}>
      {part.groups.map(({ label, options }) => (
        <View key={label ?? ''} style={{ gap: 6 }}>
          {label === undefined ? null : <Words is="muted">{label}</Words>}
          <Row>
            {options.map(({ id, label: name, detail, isOff = false }) => (
              <Button
                key={id}
                label={name}
                detail={detail}
                role={role}
                isChosen={shown.includes(id)}
                isOff={!isOpen || isOff}
                onPress={() => press(id, options)}
              />
            ))}
          </Row>
        </View>
      ))}
      {part.other === undefined || !isOpen ? null : (
        <Field label={part.other.label} value={said} onText={setSaid} isLong={part.other.isComment} />
      )}
      {!isOpen || (part.isDirect && part.other === undefined) ? null : (
        <Button label={part.submit ?? words.send} style="primary" isOff={!canSend} onPress={() => send(chosen)} />
      )}
      <Note block={block} answer={answer} />
    </View>
  );
}

type FormField = BodyOf<'form'>['fields'][number];

const KEYBOARDS = { number: 'numeric', email: 'email-address', phone: 'phone-pad' } as const;

interface FormFieldProps {
  readonly field: FormField;
  readonly value: Values[string] | undefined;
  readonly problem: string | undefined;
  readonly isOff: boolean;
  readonly onValue: (value: Values[string]) => void;
}

function FormFieldView({ field: { label, type, options = [], required = false }, value, problem, isOff, onValue }: FormFieldProps) {
  const { words } = useScene();
  const name = required || type === 'boolean' ? label : `${label} (${words.optional})`;
  const said = problem === undefined ? undefined : `${label} ${problem}`;
  if (type === 'boolean')
    return <Button label={name} role="checkbox" isChosen={value === true} isOff={isOff} onPress={() => onValue(value !== true)} />;
  if (type !== 'select' && type !== 'multi_select') {
    const keyboard = KEYBOARDS[type as 'number'] ?? 'default';
    const hint = type === 'date' ? `${name}, YYYY-MM-DD` : name;
    const text = typeof value === 'string' ? value : '';
    return (
      <Field label={hint} value={text} onText={onValue} isOff={isOff} isLong={type === 'long_text'} keyboard={keyboard} problem={said} />
    );
  }
  const many = Array.isArray(value) ? value : [];
  const toggled = (option: string) => (many.includes(option) ? many.filter((each) => each !== option) : [...many, option]);
  return (
    <View style={{ gap: 6 }}>
      <Words is="muted">{name}</Words>
      <Row>
        {options.map((option) => (
          <Button
            key={option}
            label={option}
            isOff={isOff}
            role={type === 'select' ? 'radio' : 'checkbox'}
            isChosen={type === 'select' ? value === option : many.includes(option)}
            onPress={() => onValue(type === 'select' ? option : toggled(option))}
          />
        ))}
      </Row>
      {said === undefined ? null : <Words is="bad">{said}</Words>}
    </View>
  );
}

export function FormView({ body, block, answer }: { readonly body: BodyOf<'form'> } & Parts<'block' | 'answer'>) {
  const { ask, words } = useScene();
  const [values, setValues] = useState<Values>({});
  const [own, setOwn] = useState<Problems>({});
  const { fields, status, submit_label: submit } = body;
  if (status !== 'open') return <Note block={block} answer={answer} />;
  const isOff = answer?.phase === 'sending';
  const told = answer?.phase === 'failed' ? problemsOf(answer.failure.details ?? []) : {};
  const send = () => {
    const wanted = submittedOf(fields, values);
    const problems = problemsOf(submissionProblems(body, wanted));
    setOwn(problems);
    if (Object.keys(problems).length === 0) ask.submit(block, wanted);
  };
  return (
    <View style={{ gap: 12 }}>
      {fields.map((field) => (
        <FormFieldView
          key={field.name}
          field={field}
          value={values[field.name]}
          problem={own[field.name] ?? told[field.name] ?? field.error}
          isOff={isOff}
          onValue={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      <Button label={submit || words.submit} style="primary" isOff={isOff} onPress={send} />
      <Note block={block} answer={answer} />
    </View>
  );
}

type CardBody = BodyOf<'confirm_card'>;

function CardEdit({ body, call, onEnd }: { readonly body: CardBody; readonly call: Call | undefined; readonly onEnd: () => void }) {
  const { ask, words } = useScene();
  const fields = body.fields.filter(({ editable, type }) => editable && type !== 'object');
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const choicesOf = ({ type, enum: allowed }: CardField) => (type === 'boolean' ? ['true', 'false'] : allowed?.map(String));
  const save = () => {
    const changed = fields.filter((field) => typed[field.param] !== undefined && typed[field.param] !== textOf(field));
    if (changed.length > 0)
      ask.edit(body.invocation_id, Object.fromEntries(changed.map((field) => [field.param, typedValue(field, typed[field.param] ?? '')])));
    onEnd();
  };
  return (
    <View style={{ gap: 10 }}>
      {fields.map((field) => {
        const { param, label, type, error } = field;
        const text = typed[param] ?? textOf(field);
        const onText = (next: string) => setTyped((before) => ({ ...before, [param]: next }));
        const choices = choicesOf(field);
        const keyboard = type === 'number' || type === 'integer' ? 'numeric' : 'default';
        if (choices === undefined)
          return (
            <Field key={param} label={label} value={text} onText={onText} isLong={type === 'array'} keyboard={keyboard} problem={error} />
          );
        return (
          <View key={param} style={{ gap: 6 }}>
            <Words is="muted">{label}</Words>
            <Row>
              {choices.map((each) => (
                <Button
                  key={each}
                  label={each === 'true' ? words.yes : each === 'false' ? words.no : each}
                  role="radio"
                  isChosen={each === text}
                  onPress={() => onText(each)}
                />
              ))}
            </Row>
          </View>
        );
      })}
      <Row>
        <Button label={words.back} onPress={onEnd} />
        <Button label={words.save} style="primary" isOff={call?.phase === 'editing'} onPress={save} />
      </Row>
    </View>
  );
}

const SECOND_MS = 1_000;
/** From here on the time left is shown: before, it only makes nervous. */
const COUNTDOWN_MS = 10 * 60_000;

function useNow(isRunning: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return nowMs;
}

export function CardView({ body, call }: { readonly body: CardBody } & Parts<'call'>) {
  const { ask, words, locale } = useScene();
  const { title, summary, fields, status, risk, invocation_id: id, confirm_label: yes, decline_label: no, type_to_confirm: word } = body;
  const [isEditing, setEditing] = useState(body.edit_state === 'rejected');
  const [typed, setTyped] = useState('');
  const leftMs = Date.parse(body.expires_at) - useNow(status === 'pending');
  const shown = status === 'pending' && leftMs <= 0 ? 'expired' : status;
  const isPending = shown === 'pending';
  const outcome = outcomeOf(shown, call, words);
  const isBusy = call?.phase === 'deciding' || call?.phase === 'editing';
  const mayConfirm = !isBusy && body.edit_state === 'idle' && (word === undefined || plain(typed) === plain(word));
  if (isPending && isEditing) return <CardEdit body={body} call={call} onEnd={() => setEditing(false)} />;
  return (
    <View style={{ gap: 8 }}>
      <Words is="title">{title}</Words>
      {summary === title ? null : <Words>{summary}</Words>}
      {fields.map(({ param, label, display, error }) => (
        <View key={param}>
          <Words is="muted">{label}</Words>
          <Words>{display === '' ? '–' : display}</Words>
          {error === undefined ? null : <Words is="bad">{error}</Words>}
        </View>
      ))}
      {isPending && call?.failure !== undefined ? <Words is="bad">{failureWords(call.failure, words)}</Words> : null}
      {isPending && word !== undefined ? <Field label={filled(words.typeToConfirm, { word })} value={typed} onText={setTyped} /> : null}
      {isPending ? (
        <Row>
          <Button label={no} isOff={isBusy} onPress={() => ask.decline(id)} />
          <Button
            label={yes}
            style={risk === 'destructive' ? 'danger' : 'primary'}
            isOff={!mayConfirm}
            onPress={() => ask.confirm(id, word === undefined ? undefined : typed)}
          />
          {fields.some(({ editable, type }) => editable && type !== 'object') ? (
            <Button label={words.edit} isOff={isBusy} onPress={() => setEditing(true)} />
          ) : null}
        </Row>
      ) : (
        <Words is={outcome.tone === 'is-bad' ? 'bad' : outcome.tone === 'is-ok' ? 'good' : 'muted'}>{outcome.words}</Words>
      )}
      {isPending && leftMs < COUNTDOWN_MS ? <Words is="muted">{filled(words.expiresIn, { time: leftWords(leftMs, locale) })}</Words> : null}
    </View>
  );
}
