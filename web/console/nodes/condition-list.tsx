/** What is wrong with the node that answers, since when, with what, and what to do. */

import type { ConditionEntry } from '../../../protocol/console/answers.ts';
import { momentOf } from '../parts/times.ts';
import { REMEDIES } from './node-answers.ts';

export function ConditionList({ conditions }: { readonly conditions: readonly ConditionEntry[] }) {
  if (conditions.length === 0) return null;
  return (
    <section class="card" aria-label="What is wrong">
      <h2>What is wrong</h2>
      <ul class="conditions">
        {conditions.map(({ condition, since, count, about = [], detail }) => (
          <li key={condition}>
            <p>
              <span class="chip is-bad">{condition}</span> {count !== undefined && <b>{count} × </b>}
              <span class="hint">since {momentOf(since)}</span>
            </p>
            {detail !== undefined && <p>{detail}</p>}
            {about.map((each) => (
              <p key={each.id}>
                <code class="selectable">{each.id}</code> {each.detail}
              </p>
            ))}
            {Object.hasOwn(REMEDIES, condition) && <p class="hint">{REMEDIES[condition]}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
