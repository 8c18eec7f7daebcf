/** `variant_picker`: size, colour and the like. What cannot be had together with the rest of the choice is shown and not chosen. */
import { useState } from 'preact/hooks';
import type { BlockProps, BodyOf } from './block-view.ts';
import { AnswerNote, chosenIds, isOpen } from './parts/answer-note.tsx';
import { money } from './parts/formats.ts';
import { Icon } from './parts/icon.tsx';
import { Picture } from './parts/picture.tsx';

type Body = BodyOf<'variant_picker'>;
type Axis = Body['axes'][number];
type Chosen = Readonly<Record<string, string>>;

const COLOUR = /^#[0-9a-f]{6}$/i;

/** Whether a variant with this option and the rest of the choice can be had. */
function canBeHad({ variants }: Body, chosen: Chosen, axisId: string, optionId: string): boolean {
  const wanted = Object.values({ ...chosen, [axisId]: optionId });
  return variants.some((variant) => variant.available && wanted.every((id) => variant.option_ids.includes(id)));
}

interface AxisProps {
  readonly axis: Axis;
  readonly chosen: string | undefined;
  readonly isOpen: boolean;
  readonly canHave: (optionId: string) => boolean;
  readonly onChoose: (optionId: string) => void;
  readonly hint: string;
}

function AxisView({ axis: { label, display, options }, chosen, isOpen: open, canHave, onChoose, hint }: AxisProps) {
  if (display === 'dropdown') {
    return (
      <label class="asked">
        <span class="label">{label}</span>
        <select class="entry" value={chosen ?? ''} disabled={!open} onChange={(event) => onChoose(event.currentTarget.value)}>
          <option value="" disabled>
            {hint}
          </option>
          {options.map((option) => (
            <option key={option.id} value={option.id} disabled={option.disabled === true || !canHave(option.id)}>
              {option.label}
            </option>
          ))}
        </select>
      </label>
    );
  }
  const name = options.find(({ id }) => id === chosen)?.label;
  return (
    <fieldset class="asked">
      <legend class="label">
        {label}
        {name === undefined ? null : <b>: {name}</b>}
      </legend>
      <div class="pills">
        {options.map((option) => {
          const isChosen = option.id === chosen;
          const isSwatch = display === 'swatch' && option.hex !== undefined && COLOUR.test(option.hex);
          return (
            <button
              key={option.id}
              type="button"
              class={`${isSwatch ? 'swatch' : 'pill'} ${isChosen ? 'is-chosen' : ''}`}
              aria-pressed={isChosen}
              disabled={!open || option.disabled === true || !canHave(option.id)}
              onClick={() => onChoose(option.id)}
              {...(isSwatch ? { 'aria-label': option.label, title: option.label, style: { '--swatch': option.hex } } : {})}
            >
              {isSwatch ? isChosen ? <Icon name="check" /> : null : option.label}
            </button>
          );
        })}
      </div>
    </fieldset>
  );
}

interface QuantityProps {
  readonly range: NonNullable<Body['quantity']>;
  readonly value: number;
  readonly label: string;
  readonly onValue: (value: number) => void;
}

function Quantity({ range: { min, max }, value, label, onValue }: QuantityProps) {
  return (
    <fieldset class="quantity" aria-label={label}>
      <button type="button" class="quiet" aria-label={`${label} −1`} disabled={value <= min} onClick={() => onValue(value - 1)}>
        <Icon name="dash" />
      </button>
      <output>{value}</output>
      <button type="button" class="quiet" aria-label={`${label} +1`} disabled={value >= max} onClick={() => onValue(value + 1)}>
        <Icon name="plus" />
      </button>
    </fieldset>
  );
}

function chosenOf({ axes }: Body, ids: ReadonlySet<string>): Chosen {
  return Object.fromEntries(
    axes.flatMap(({ id, options }) => options.filter((option) => ids.has(option.id)).map((option) => [id, option.id])),
  );
}

export function VariantPicker({ block, body, answer, around }: BlockProps<'variant_picker'>) {
  const { title, image, axes, variants, quantity, status } = body;
  const { words, ask, locale } = around;
  const [picked, setPicked] = useState<Chosen>({});
  const [count, setCount] = useState(Math.max(1, quantity?.min ?? 1));
  const open = isOpen(status, answer);
  const chosen = open ? picked : chosenOf(body, chosenIds(body, answer));
  const ids = axes.flatMap(({ id }) => chosen[id] ?? []);
  const variant = ids.length === axes.length ? variants.find(({ option_ids: each }) => ids.every((id) => each.includes(id))) : undefined;
  const labels = axes.flatMap(({ id, options }) => options.find((option) => option.id === chosen[id])?.label ?? []);
  const send = () => ask.choose(block, ids, `${title}: ${labels.join(', ')}${quantity === undefined ? '' : ` × ${count}`}`);
  const isSoldOut = !variants.some(({ available }) => available);
  return (
    <div class={`card variants ${open ? '' : 'is-past'}`}>
      <div class="product">
        <Picture around={around} image={image} class="is-product" />
        <div class="grow">
          <div class="title">{title}</div>
          {variant?.price === undefined ? null : <div class="price">{money(variant.price, locale)}</div>}
          {isSoldOut ? <span class="tag is-danger">{words.soldOut}</span> : null}
        </div>
      </div>
      {axes.map((axis) => (
        <AxisView
          key={axis.id}
          axis={axis}
          chosen={chosen[axis.id]}
          isOpen={open}
          hint={words.choose}
          canHave={(optionId) => canBeHad(body, chosen, axis.id, optionId)}
          onChoose={(optionId) => setPicked((before) => ({ ...before, [axis.id]: optionId }))}
        />
      ))}
      {open && !isSoldOut ? (
        <div class="buttons is-choice">
          {quantity === undefined ? null : <Quantity range={quantity} value={count} label={words.quantity} onValue={setCount} />}
          <button type="button" class="button is-primary" disabled={variant?.available !== true} onClick={send}>
            {words.addChoice}
          </button>
        </div>
      ) : null}
      <AnswerNote status={status} answer={answer} around={around} answered={words.answered} />
    </div>
  );
}
