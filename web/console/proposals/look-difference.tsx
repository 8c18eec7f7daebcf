/** What of a proposed look is judged by eye: its logo as a picture beside the one there is, and how well its colours are read. */

import { useState } from 'preact/hooks';
import type { ContrastChange, WholeProposal } from '../../../protocol/console/setup-answers.ts';
import { apiAddress } from '../api/request.ts';
import { Table } from '../parts/table.tsx';

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
