/** Organisations on their way from this cell to another one. */
import { organisationAddress } from '../app/app.ts';
import { momentOf } from '../parts/times.ts';
import type { MoveEntry } from './node-answers.ts';

export function MoveTable({ moves }: { readonly moves: readonly MoveEntry[] }) {
  if (moves.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="card scroll-x" aria-label="Moves" tabIndex={0}>
      <h2>Moves</h2>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Organisation</th>
            <th scope="col">From, to</th>
            <th scope="col">Last step</th>
            <th scope="col">Begun</th>
            <th scope="col">Trace</th>
          </tr>
        </thead>
        <tbody>
          {moves.map((move) => (
            <tr key={move.move_id}>
              <th scope="row">
                <a href={organisationAddress(move.organisation_id)}>{move.organisation_id}</a>
              </th>
              <td>
                {move.source_cell} → {move.target_cell}
              </td>
              <td>
                <span class={`chip ${move.step === 'aborted' ? 'is-bad' : 'is-wait'}`}>{move.step}</span> {move.error}
              </td>
              <td>{momentOf(move.started_at)}</td>
              <td>
                {move.step !== 'begun' && <a href={`/console/traces/moves/${encodeURIComponent(move.organisation_id)}`}>Step by step</a>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
