/** Organisations on their way from this cell to another one. */

import type { MoveReply } from '../../../protocol/console/moves.ts';
import { organisationAddress } from '../app/app.ts';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';

export function MoveTable({ moves }: { readonly moves: readonly MoveReply[] }) {
  if (moves.length === 0) return null;
  return (
    <Scrolling label="Moves" isCard>
      <h2>Moves</h2>
      <Table
        rows={moves}
        keyOf={(move) => move.move_id}
        columns={[
          { title: 'Organisation', of: ({ organisation_id: id }) => <a href={organisationAddress(id)}>{id}</a> },
          { title: 'From, to', of: (move) => `${move.source_cell} → ${move.target_cell}` },
          { title: 'Last step', of: StepOfMove },
          { title: 'Begun', of: (move) => momentOf(move.started_at) },
          {
            title: 'Trace',
            of: ({ step, organisation_id: id }) =>
              step !== 'begun' && <a href={`/console/traces/moves/${encodeURIComponent(id)}`}>Step by step</a>,
          },
        ]}
      />
    </Scrolling>
  );
}

function StepOfMove({ step, error }: MoveReply) {
  return (
    <>
      <span class={`chip ${step === 'aborted' ? 'is-bad' : 'is-wait'}`}>{step}</span> {error}
    </>
  );
}
