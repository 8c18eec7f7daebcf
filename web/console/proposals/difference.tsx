/** What is there now beside what would be written, field by field. Everything is text; colours have a swatch beside it. */

import type { ComponentChildren } from 'preact';
import type { FieldChange, ItemChange } from '../../../protocol/console/setup-answers.ts';
import { Table } from '../parts/table.tsx';
import { type TextPart, textSides } from './text-difference.ts';

const CHANGE_SIGNALS: Readonly<Record<ItemChange['change'], string>> = { added: 'is-ok', updated: 'is-accent', archived: 'is-bad' };

export interface DifferenceProps {
  readonly items: readonly ItemChange[];
  /** Stands in the place of the fields of an item where there is more to see than text. */
  readonly drawn?: (item: ItemChange) => ComponentChildren;
}

export function Difference({ items, drawn }: DifferenceProps) {
  return (
    <>
      {items.map((item) => (
        <section key={`${item.change} ${item.name}`} class="difference" aria-label={item.name}>
          <h3>
            <span class={`chip ${CHANGE_SIGNALS[item.change]}`}>{item.change}</span> <span class="difference-name">{item.name}</span>
          </h3>
          {drawn?.(item) ||
            (item.fields.length === 0 ? (
              <p class="hint">Nothing would change: it is read again, or is as it would be.</p>
            ) : (
              <Table
                look="sides"
                rows={item.fields.map(withParts)}
                keyOf={({ field }) => field}
                columns={[
                  { title: 'Field', of: ({ field }) => field },
                  { title: 'Now', of: ({ before, parts }) => <Side value={before} parts={parts.before} isOld /> },
                  {
                    title: item.change === 'archived' ? 'Afterwards' : 'Would be',
                    of: ({ after, parts }) => <Side value={after} parts={parts.after} />,
                  },
                ]}
              />
            ))}
        </section>
      ))}
    </>
  );
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join('\n');
  return JSON.stringify(value, null, 2);
}

function withParts(change: FieldChange) {
  const { before, after } = change;
  return { ...change, parts: textSides(before === null ? '' : asText(before), after === null ? '' : asText(after)) };
}

const COLOUR = /^#[0-9a-f]{6}$/i;

function Side({ value, parts, isOld = false }: { readonly value: unknown; readonly parts: readonly TextPart[]; readonly isOld?: boolean }) {
  if (value === null) return <span class="side-none">{isOld ? 'not there' : 'gone'}</span>;
  const isColour = typeof value === 'string' && COLOUR.test(value);
  return (
    <>
      {isColour && (
        <svg class="swatch" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <rect width="16" height="16" rx="4" fill={value} />
        </svg>
      )}
      <span class="side-text">
        {parts.map(({ text, isOwn }, index) => {
          const key = `${index} ${text.slice(0, 20)}`;
          if (!isOwn) return <span key={key}>{text}</span>;
          return isOld ? <del key={key}>{text}</del> : <ins key={key}>{text}</ins>;
        })}
      </span>
    </>
  );
}
