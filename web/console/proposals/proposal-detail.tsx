/** One proposal: who, why, when, what would change, and the word of a person. */

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SetupSession, WholeProposal } from '../../../protocol/console/setup-answers.ts';
import { REASON_MAX_CHARS } from '../../../protocol/limits.ts';
import type { Act } from '../api/act-hook.ts';
import { useAsked } from '../api/asked-hook.ts';
import { Button, Problem } from '../parts/card.tsx';
import { useDraft } from '../parts/draft-hook.ts';
import { TextField } from '../parts/fields.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { wholeMomentOf } from '../parts/times.ts';
import { agentName } from '../setup/session.ts';
import { ContrastDifference, Difference, LogoDifference } from './difference.tsx';
import { afterApproval, KIND_LABELS, reasonsOf, stateOf } from './proposal.ts';

interface ProposalDetailProps {
  readonly id: string;
  readonly act: Act;
  readonly isRejecting: boolean;
  readonly setRejecting: (isRejecting: boolean) => void;
  readonly approve: () => void;
  readonly reject: (reason: string) => void;
  readonly round: number;
}

/** Things of the other kinds have names that agents gave them. */
const isLook = ({ kind }: WholeProposal) => kind === 'appearance' || kind === 'logo';

export function ProposalDetail(props: ProposalDetailProps) {
  const { id, act, round } = props;
  const { answer, error, reload } = useAsked<{ readonly proposal: WholeProposal }>(`/proposals/${encodeURIComponent(id)}`);
  const first = useRef(round);
  useEffect(() => {
    if (round !== first.current) reload();
  }, [round]);
  const wasWaiting = useRef(false);
  if (answer?.proposal.status === 'pending') wasWaiting.current = true;
  if (answer === undefined) return error === undefined ? null : <Problem error={error} retry={reload} />;
  const { proposal } = answer;
  return (
    <article class="card proposal" aria-label={proposal.summary}>
      <h2>
        <span>{KIND_LABELS[proposal.kind]}</span>
        <StateChip state={stateOf(proposal)} />
      </h2>
      <div class="card-body">
        <Problem error={error} retry={reload} />
        <p class="proposal-summary">{proposal.summary}</p>
        <Facts proposal={proposal} />
        <Difference
          items={proposal.comparison?.items ?? []}
          drawn={(item) => isLook(proposal) && item.name === 'logo' && <LogoDifference proposal={proposal} />}
        />
        <ContrastDifference contrast={proposal.comparison?.contrast ?? []} />
        {proposal.comparison === null && <WhatWasWritten proposal={proposal} />}
        <Problem error={act.error} retry={reload} />
      </div>
      {proposal.status === 'pending' && <Verdict {...props} proposal={proposal} />}
      {proposal.status !== 'pending' && wasWaiting.current && (
        <p class="verdict hint" role="status">
          It was {proposal.status} meanwhile, by somebody else or in another window. Nothing more can be decided here.
        </p>
      )}
    </article>
  );
}

function Facts({ proposal }: { readonly proposal: WholeProposal }) {
  const session = useAsked<{ readonly session: SetupSession }>(`/sessions/${encodeURIComponent(proposal.session_id)}?limit=1`);
  const who = session.answer === undefined ? undefined : agentName(session.answer.session);
  const reasons = reasonsOf(proposal);
  const at = (time: string) => wholeMomentOf(time);
  return (
    <dl class="proposal-facts">
      <dt>Who</dt>
      <dd>{who ?? (session.error === undefined ? '' : 'An agent of a session that is not kept any more')}</dd>
      <dt>Why</dt>
      <dd>{reasons.length === 0 ? 'No reason was given' : reasons.join('\n')}</dd>
      <dt>When</dt>
      <dd>
        {at(proposal.created_at)}
        {proposal.decided_at !== null && `, decided ${at(proposal.decided_at)}`}
      </dd>
      {proposal.reason !== null && (
        <>
          <dt>Your reason</dt>
          <dd>{proposal.reason}</dd>
        </>
      )}
    </dl>
  );
}

function WhatWasWritten({ proposal }: { readonly proposal: WholeProposal }) {
  return (
    <details class="proposal-write">
      <summary>What it wanted to write</summary>
      <pre>{JSON.stringify(proposal.write, null, 2)}</pre>
    </details>
  );
}

function Verdict({
  proposal,
  act,
  isRejecting,
  setRejecting,
  approve,
  reject,
}: ProposalDetailProps & { readonly proposal: WholeProposal }) {
  const outdated = proposal.comparison?.outdated ?? false;
  const overlaps = proposal.comparison?.overlaps.length ?? 0;
  return (
    <div class="verdict">
      {outdated ? (
        <p class="fault">What it would replace has changed since, so it cannot be approved. Reject it; the agent can propose it anew.</p>
      ) : (
        <p class="hint">
          {afterApproval(proposal.kind)}
          {overlaps > 0 &&
            ` ${overlaps === 1 ? 'Another proposal is' : `${overlaps} other proposals are`} about the same, and will be out of date then.`}
        </p>
      )}
      {isRejecting ? (
        <RejectForm id={proposal.id} act={act} reject={reject} cancel={() => setRejecting(false)} />
      ) : (
        <div class="row">
          <button type="button" class="button primary" disabled={act.isUnderWay || outdated} onClick={approve}>
            Approve <kbd>a</kbd>
          </button>
          <button type="button" class="button" disabled={act.isUnderWay} onClick={() => setRejecting(true)}>
            Reject <kbd>r</kbd>
          </button>
        </div>
      )}
    </div>
  );
}

interface RejectFormProps {
  readonly id: string;
  readonly act: Act;
  readonly reject: (reason: string) => void;
  readonly cancel: () => void;
}

function RejectForm({ id, act, reject, cancel }: RejectFormProps) {
  const draft = useDraft(`reject.${id}`, { reason: '' });
  const form = useRef<HTMLFormElement>(null);
  // Before anything else can be typed.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  return (
    <form
      ref={form}
      class="stack reject"
      onSubmit={(event) => {
        event.preventDefault();
        reject(draft.values.reason);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel();
      }}
    >
      <TextField
        label="Why not"
        hint="The agent reads it, and sees it again if it proposes the same. It may be left empty."
        value={draft.values.reason}
        onInput={(reason) => draft.set('reason', reason)}
        max={REASON_MAX_CHARS}
      />
      <div class="row">
        <button type="submit" class="button danger" disabled={act.isUnderWay}>
          Reject the proposal
        </button>
        <Button label="Keep it waiting" onClick={cancel} />
      </div>
    </form>
  );
}
