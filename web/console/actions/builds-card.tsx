/** The build of the app that counts beside the newest one: what each registers, and why it counts or does not yet. */
import { buildName } from '../app/app.ts';
import { Card } from '../parts/card.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import type { Manifest } from './declared.ts';

export interface Builds {
  /** The one that counts. */
  readonly manifest: Manifest | null;
  /** The one that called in last, where that is another one. */
  readonly newest: Manifest | null;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const REASONS: Readonly<Record<Manifest['standing'], (hours: number) => string>> = {
  vouched: () => 'Trusted: it connected before the app was live, or signed-in people use it.',
  in_use: (hours) => `Turns used it in ${counted(hours, 'different hour')}.`,
  new: (hours) => (hours === 0 ? 'No turn has used it yet.' : `Turns used it in ${counted(hours, 'hour')} so far.`),
};

/** The build that counts and the newest one, with what each registers; the key that registers is public, so a new one has to prove itself. */
export function BuildsCard({ builds: { manifest, newest } }: { readonly builds: Builds }) {
  if (manifest === null && newest === null) return <p class="card card-empty">No build has connected yet.</p>;
  if (manifest !== null && newest === null) return <OnlyBuild build={manifest} />;
  const rows = [
    ...(newest === null ? [] : [{ build: newest, counts: false }]),
    ...(manifest === null ? [] : [{ build: manifest, counts: true }]),
  ];
  return (
    <Card title="Builds" note="the app says what it can do each time that it starts">
      <Scrolling label="Builds and what they register">
        <Table
          look="list stacks"
          rows={rows}
          keyOf={({ counts }) => String(counts)}
          columns={[
            {
              title: 'Build',
              of: ({ build, counts }) => (
                <>
                  {buildName(build.sdk)} <StateChip state={counts ? 'current' : 'newest'} />
                </>
              ),
            },
            { title: 'Actions', of: ({ build }) => build.document.actions.length, look: 'number' },
            { title: 'Screens', of: ({ build }) => build.document.routes.length, look: 'number' },
            { title: 'Last connected', of: ({ build }) => momentOf(build.last_seen_at) },
            { title: 'Why', of: ({ build }) => REASONS[build.standing](build.hours), look: () => 'is-prose' },
          ]}
        />
      </Scrolling>
      {newest !== null && <p class="card-foot hint">{UNPROVEN}</p>}
    </Card>
  );
}

function OnlyBuild({ build: { sdk, document, last_seen_at: seenAt, standing, hours } }: { readonly build: Manifest }) {
  return (
    <section class="card card-foot row" aria-label="Builds">
      <b>{buildName(sdk)}</b>
      <span>
        registers {counted(document.actions.length, 'action')} and {counted(document.routes.length, 'screen')}, last connected{' '}
        {momentOf(seenAt)}
      </span>
      <span class="hint">{REASONS[standing](hours)}</span>
    </section>
  );
}

const UNPROVEN =
  'The newest becomes the current one once a signed-in person uses it, or turns use it in 3 different hours: the key is public, so anybody may send one. People who use it get what it registers all the same.';
