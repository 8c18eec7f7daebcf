/** How what apps lean on went by the hour: the model, the app's own server and its knowledge, what failed of all that was tried. */
import type { AppHealth, Health, TriedByHour } from '../../../protocol/console/glance-answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, appPath } from '../app/app.ts';
import { FailedShare, GLANCED, NONE } from '../overview/glance-parts.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';
import { Axis, Bars, Plot } from './bars.tsx';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

const KINDS = [
  ['turns', 'Answers', 'answer', ''],
  ['model', 'Model', 'request', 'conversations?state=failed'],
  ['backend', 'The app’s own server', 'call', 'actions'],
  ['knowledge', 'Knowledge', 'source', 'knowledge'],
] as const;

function sumOf({ tried, failed }: TriedByHour) {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  return { ended: sum(tried), failed: sum(failed) };
}

interface StripProps {
  readonly what: string;
  readonly of: TriedByHour;
  readonly from: string;
  readonly isCell?: boolean;
}

function barsOf({ tried, failed }: TriedByHour, from: string) {
  return tried.map((all, at) => {
    const lost = failed[at] ?? 0;
    const hour = new Date(Date.parse(from) + at * HOUR_MS).toISOString();
    return { key: hour, title: `${momentOf(hour)}: ${lost} of ${all} failed`, height: all - lost, extra: lost };
  });
}

function Strip({ what, of, from, isCell = false }: StripProps) {
  const { ended, failed } = sumOf(of);
  const drawn = {
    bars: barsOf(of, from),
    label: `${what} by the hour since ${momentOf(from)}: ${failed} of ${ended} failed`,
  };
  const peak = Math.max(...of.tried);
  if (isCell) return <Bars {...drawn} most={peak} look="is-cell is-failing" />;
  return <Plot {...drawn} peak={peak} words={(value) => value.toLocaleString('en')} look="is-low is-failing" />;
}

function Worst({ of, from }: Pick<StripProps, 'of' | 'from'>) {
  const at = of.failed.lastIndexOf(Math.max(...of.failed));
  const hour = new Date(Date.parse(from) + at * HOUR_MS).toISOString();
  return (
    <>
      · most in the hour of {momentOf(hour)}: {of.failed[at]}
    </>
  );
}

/** Of an app: the last week. */
export function AppHealthCard({ app }: { readonly app: string }) {
  const { answer, error, reload } = useAsked<Health>(`${appPath(app)}/health`, GLANCED);
  const [health] = answer?.apps ?? [];
  const days = (answer?.hours ?? 0) / DAY_HOURS;
  const dayStarts = Array.from({ length: days }, (_, at) => Date.parse(answer?.from ?? '') + at * DAY_HOURS * HOUR_MS);
  return (
    <Card title="What was tried and what failed, by the hour" label="Health" note="the last seven days, live and test; red failed">
      <Problem error={error} retry={reload} />
      {answer !== undefined && health !== undefined && (
        <div class="health">
          {KINDS.map(([kind, title, one, section]) => {
            const { ended, failed } = sumOf(health[kind]);
            return (
              <section key={kind} class="health-kind" aria-label={title}>
                <p>
                  <b>{title}</b>{' '}
                  {ended === 0 ? (
                    <span class="hint">not tried</span>
                  ) : (
                    <span class={failed > 0 ? 'is-failing' : 'hint'}>
                      {failed.toLocaleString('en')} of {ended.toLocaleString('en')} {ended === 1 ? one : `${one}s`} failed
                    </span>
                  )}{' '}
                  {failed > 0 && (
                    <small class="hint">
                      <Worst of={health[kind]} from={answer.from} />.{' '}
                      {section !== '' && <a href={appAddress(app, section)}>View {kind === 'model' ? 'failures' : section}</a>}
                    </small>
                  )}
                </p>
                {ended > 0 && <Strip what={title} of={health[kind]} from={answer.from} />}
              </section>
            );
          })}
          <Axis labels={dayStarts.map((atMs) => momentOf(new Date(atMs).toISOString()))} />
        </div>
      )}
    </Card>
  );
}

/** Of the apps of an organisation that were used last: the last day. */
export function OrganisationHealthCard({ organisation }: { readonly organisation: string }) {
  const { answer, error, reload } = useAsked<Health>(`/orgs/${encodeURIComponent(organisation)}/health`, GLANCED);
  const apps = answer?.apps.filter((app) => KINDS.some(([kind]) => sumOf(app[kind]).ended > 0)) ?? [];
  const cell = (kind: (typeof KINDS)[number][0], title: string) => ({
    title,
    of: (app: AppHealth) => {
      const sum = sumOf(app[kind]);
      if (sum.ended === 0) return NONE;
      return (
        <span class="health-cell">
          <Strip what={`${title} of ${app.name}`} of={app[kind]} from={answer?.from ?? ''} isCell />
          <FailedShare {...sum} />
        </span>
      );
    },
  });
  return (
    <Card title="What was tried and what failed, by the hour" label="Health" note="the last 24 hours, live and test; red failed">
      <Problem error={error} retry={reload} />
      {answer !== undefined && apps.length === 0 && <p class="card-empty">Nothing was tried in the last 24 hours.</p>}
      {apps.length > 0 && (
        <Scrolling label="Health by app">
          <Table
            look="list stacks"
            rows={apps}
            keyOf={(app) => app.app_id}
            columns={[
              { title: 'App', of: ({ app_id: id, name }: AppHealth) => <a href={appAddress(id, 'usage')}>{name}</a> },
              ...KINDS.map(([kind, title]) => cell(kind, title)),
            ]}
          />
        </Scrolling>
      )}
    </Card>
  );
}
