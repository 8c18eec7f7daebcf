/** Proposals: what agents would write to a live app, one after the other, by keys. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import type { Proposal } from '../../../protocol/console/setup-answers.ts';
import { useStore } from '../../sdk/store-hook.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { countProposals, openedApp } from '../app/app-store.ts';
import { Button, Problem } from '../parts/card.tsx';
import { Select } from '../parts/choices.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { momentOf } from '../parts/times.ts';
import { useShortcut } from '../shell/shortcuts.ts';
import { toast } from '../shell/toasts.tsx';
import { KIND_LABELS, stateOf } from './proposal.ts';
import { ProposalDetail } from './proposal-detail.tsx';

/** As many as may wait at once. */
const LISTED_MAX = 200;

const SHOWN = ['pending', 'approved', 'rejected', 'replaced'] as const;
type Shown = (typeof SHOWN)[number];

const SHOWN_LABELS: Readonly<Record<Shown, string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
  replaced: 'Replaced',
};

const isShown = (status: string | undefined): status is Shown => SHOWN.some((one) => one === status);

export function ProposalsPage() {
  const { params, query } = useRoute();
  const { route } = useLocation();
  const status = isShown(query.status) ? query.status : 'pending';
  return (
    <AppPage
      title="Proposals"
      facts="What a coding agent would write to the live app. Nothing of it counts before you approve it."
      actions={
        <Select
          label="Which proposals"
          value={status}
          options={SHOWN.map((one) => [one, SHOWN_LABELS[one]])}
          onChange={(one) => route(`${appAddress(params.app ?? '', 'proposals')}?status=${one}`)}
        />
      }
    >
      {(app) => <Proposals key={status} app={app} status={status} />}
    </AppPage>
  );
}

function Proposals({ app, status }: { readonly app: App; readonly status: Shown }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const path = `${appPath(app.id)}/proposals?status=${status}&limit=${LISTED_MAX}`;
  const { answer, error, reload } = useAsked<{ readonly proposals: readonly Proposal[] }>(path);
  const waiting = useStore(openedApp, (context) => context.waiting);
  const [round, again] = useState(0);
  const lastDecided = useRef<string | undefined>(undefined);
  // Somebody else decided, or an agent proposed.
  useEffect(() => {
    if (answer === undefined) return;
    reload();
    again((count) => count + 1);
  }, [waiting]);
  const proposals = answer?.proposals ?? [];
  const ordered = status === 'pending' ? proposals : proposals.toReversed();
  const id = query.proposal ?? ordered[0]?.id;
  const at = ordered.findIndex((one) => one.id === id);
  const go = (next: Proposal | undefined) => {
    const chosen = next === undefined ? '' : `&proposal=${encodeURIComponent(next.id)}`;
    route(`${appAddress(app.id, 'proposals')}?status=${status}${chosen}`, true);
  };
  // The one that is looked at stays when somebody else decides it: nobody is to approve what they have not seen.
  useEffect(() => {
    if (query.proposal === undefined && ordered[0] !== undefined && ordered[0].id !== lastDecided.current) go(ordered[0]);
  }, [query.proposal, ordered[0]?.id]);
  const show = (next: Proposal | undefined) => {
    if (next !== undefined) go(next);
  };
  const decided = (what: string) => {
    lastDecided.current = id;
    toast(what);
    go(ordered[at + 1] ?? ordered[at - 1]);
    reload();
    again((count) => count + 1);
    void countProposals(app.id).catch(() => undefined);
  };
  const verdict = useVerdict(id, decided);
  // Somebody was faster: what they decided is read.
  useEffect(() => {
    if (verdict.act.error?.code === 'conflict') again((count) => count + 1);
  }, [verdict.act.error]);
  useShortcut('j', 'Next proposal', () => show(ordered[at + 1]));
  useShortcut('k', 'Proposal before', () => show(ordered[at - 1]));
  // A key on what was decided, also by somebody else, decides nothing.
  const isOpen = ordered[at]?.status === 'pending' && verdict.act.error?.code !== 'conflict';
  useShortcut('a', 'Approve the proposal', () => void (isOpen && verdict.approve()));
  useShortcut('r', 'Reject the proposal', () => isOpen && verdict.setRejecting(true));
  return (
    <>
      <Problem error={error} retry={reload} />
      {answer !== undefined && proposals.length === 0 && query.proposal === undefined && <Nothing app={app} status={status} />}
      {id !== undefined && (
        <div class="proposals">
          <ProposalList proposals={ordered} id={id} show={show} label={SHOWN_LABELS[status]} />
          <ProposalDetail key={id} id={id} round={round} {...verdict} />
        </div>
      )}
    </>
  );
}

function useVerdict(id: string | undefined, decided: (what: string) => void) {
  const act = useAct();
  const [rejecting, setRejecting] = useState<string>();
  useEffect(() => act.forget(), [id]);
  const path = `/proposals/${encodeURIComponent(id ?? '')}`;
  return {
    act,
    isRejecting: rejecting !== undefined && rejecting === id,
    setRejecting: (isRejecting: boolean) => setRejecting(isRejecting ? id : undefined),
    approve: () =>
      act.run(async () => {
        if (id === undefined) return;
        await ask('POST', `${path}/approve`);
        decided('Approved.');
      }),
    reject: (reason: string) =>
      act.run(async () => {
        await ask('POST', `${path}/reject`, reason === '' ? {} : { reason });
        setRejecting(undefined);
        decided('Rejected.');
      }),
  };
}

function Nothing({ app, status }: { readonly app: App; readonly status: Shown }) {
  if (status !== 'pending') return <p class="empty">No proposal was {status}.</p>;
  return (
    <div class="empty">
      <p>Nothing waits for you. When an agent works on a live app, each of its writes comes here and waits for your word.</p>
      <Button label={app.live ? 'Open a sync session' : 'Open a session'} href={appAddress(app.id, 'setup')} />
    </div>
  );
}

interface ProposalListProps {
  readonly proposals: readonly Proposal[];
  readonly id: string;
  readonly show: (proposal: Proposal) => void;
  readonly label: string;
}

function ProposalList({ proposals, id, show, label }: ProposalListProps) {
  return (
    <nav class="card proposal-list" aria-label={`${label} proposals`}>
      <ol>
        {proposals.map((one) => (
          <li key={one.id}>
            <button type="button" class="proposal-line" aria-current={one.id === id ? 'true' : undefined} onClick={() => show(one)}>
              <StateChip state={stateOf(one)} words={KIND_LABELS[one.kind]} />
              <time dateTime={one.created_at}>{momentOf(one.created_at)}</time>
              <span class="proposal-line-text">{one.summary}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
