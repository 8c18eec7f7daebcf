/** What is there now beside what would be written, field by field. Everything is text; colours have a swatch beside it. */

import { diffLines, diffWordsWithSpace } from 'diff';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ContrastChange, FieldChange, ItemChange, WholeProposal } from '../../../protocol/console/setup-answers.ts';
import { apiAddress } from '../api/request.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { Table } from '../parts/table.tsx';

interface TextPart {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Texts that are compared word by word; longer ones by lines, which takes a thousandth of the time. */
const WORDS_MAX_CHARS = 12_000;
/** A person notices no pause of this length; what takes longer is shown as wholly different. */
const TIMEOUT_MS = 80;
/** What both sides have in common is cut to its ends where it is longer than this. */
const SAME_MAX_CHARS = 400;
const SAME_END_CHARS = 140;

function shortened({ text, isOwn }: TextPart): readonly TextPart[] {
  if (isOwn || text.length <= SAME_MAX_CHARS) return [{ text, isOwn }];
  const left = text.length - 2 * SAME_END_CHARS;
  return [
    { text: `${text.slice(0, SAME_END_CHARS)}\n… ${left.toLocaleString('en')} characters alike …\n${text.slice(-SAME_END_CHARS)}`, isOwn },
  ];
}

function textSides(before: string, after: string) {
  const isLong = before.length + after.length > WORDS_MAX_CHARS;
  const bound = { timeout: TIMEOUT_MS };
  const changes = isLong ? diffLines(before, after, bound) : diffWordsWithSpace(before, after, bound);
  if (changes === undefined) return { before: [{ text: before, isOwn: true }], after: [{ text: after, isOwn: true }] };
  const side = (isLeftOut: 'added' | 'removed', isOwn: 'added' | 'removed') =>
    changes.filter((part) => !part[isLeftOut]).flatMap((part) => shortened({ text: part.value, isOwn: part[isOwn] }));
  return { before: side('added', 'removed'), after: side('removed', 'added') };
}

interface DifferenceProps {
  readonly items: readonly ItemChange[];
  readonly drawn?: (item: ItemChange) => ComponentChildren;
}

export function Difference({ items, drawn }: DifferenceProps) {
  return (
    <>
      {items.map((item) => (
        <section key={`${item.change} ${item.name}`} class="difference" aria-label={item.name}>
          <h3>
            <StateChip state={item.change} /> <span class="difference-name">{item.name}</span>
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

function Picture({ source, what, none }: { readonly source: string; readonly what: string; readonly none: string }) {
  const [isMissing, miss] = useState(false);
  return (
    <figure class="logo-side">
      <figcaption>{what}</figcaption>
      {isMissing ? <span class="side-none">{none}</span> : <img src={source} alt={`The logo: ${what}`} onError={() => miss(true)} />}
    </figure>
  );
}

export function LogoDifference({ proposal }: { readonly proposal: WholeProposal }) {
  return (
    <div class="logo-sides">
      <Picture source={apiAddress(`/apps/${encodeURIComponent(proposal.app_id)}/logo`)} what="now" none="no logo" />
      <Picture source={apiAddress(`/proposals/${encodeURIComponent(proposal.id)}/logo`)} what="would be" none="cannot be shown" />
    </div>
  );
}

function Ratio({ ratio, minimum }: { readonly ratio: number | null; readonly minimum: number }) {
  if (ratio === null) return <span class="side-none">not there</span>;
  const isLow = ratio < minimum;
  return (
    <>
      {ratio.toFixed(2)} : 1 {isLow && <span class="chip is-bad">hard to read</span>}
    </>
  );
}

function PairOfColours({ part, subject, minimum }: ContrastChange) {
  return (
    <>
      {subject}
      {part === 'themeDark' && ', dark'}
      <span class="line-note">, at least {minimum}</span>
    </>
  );
}

/** The pairs of colours that would be read otherwise than now, those below what WCAG asks first. */
export function ContrastDifference({ contrast }: { readonly contrast: readonly ContrastChange[] }) {
  if (contrast.length === 0) return null;
  const shortOf = ({ after, minimum }: ContrastChange) => (after < minimum ? 0 : 1);
  return (
    <section class="difference" aria-label="Contrast">
      <h3>
        Contrast <small>as WCAG 2.2 counts it, dark colours included</small>
      </h3>
      <Table
        look="sides"
        rows={contrast.toSorted((one, other) => shortOf(one) - shortOf(other))}
        keyOf={({ part, subject }) => `${part} ${subject}`}
        columns={[
          { title: 'Colours', of: PairOfColours },
          { title: 'Now', of: ({ before, minimum }) => <Ratio ratio={before} minimum={minimum} /> },
          { title: 'Would be', of: ({ after, minimum }) => <Ratio ratio={after} minimum={minimum} /> },
        ]}
      />
    </section>
  );
}
