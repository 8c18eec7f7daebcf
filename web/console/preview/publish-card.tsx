/** What the drafts of look and persona have that people do not get yet, and publishing it. */

import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { readApp } from '../app/app-store.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { isSame } from '../parts/draft-hook.ts';
import { toast } from '../shell/toasts.tsx';
import type { Drafts } from './drafts-hook.ts';

function shown(value: unknown): string {
  if (value === undefined || value === '') return 'nothing';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? 'nothing' : value.join(' · ');
  return JSON.stringify(value);
}

interface Difference {
  readonly name: string;
  readonly from: unknown;
  readonly to: unknown;
}

type Document = Readonly<Record<string, unknown>>;

function differences(before: object, after: object, prefix = ''): Difference[] {
  const [old, next] = [before as Document, after as Document];
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((name) => name !== 'reason');
  return names.flatMap((name) => {
    const [from, to] = [old[name], next[name]];
    if (isSame(from, to)) return [];
    const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject(from) || isObject(to)) return differences(Object(from ?? {}), Object(to ?? {}), `${prefix}${name}.`);
    return [{ name: prefix + name, from, to }];
  });
}

export function PublishCard({ app, drafts }: { readonly app: App; readonly drafts: Drafts }) {
  const act = useAct();
  const { appearance, experience } = drafts;
  if (appearance === undefined || experience === undefined) return null;
  const changes = [
    ...differences(appearance.published ?? {}, appearance.draft ?? {}),
    ...differences(experience.published ?? {}, experience.draft ?? {}),
  ];
  const version = appearance.published_version;
  const hasDraft = appearance.draft !== null || experience.draft !== null;
  const publish = () =>
    act.run(async () => {
      const answer = await ask<{ readonly version: number }>('POST', `${appPath(app.id)}/publish`);
      toast(`Version ${answer.version} is published.`);
      drafts.reload();
      await readApp(app.id);
    });
  return (
    <Card title="Publish" note={version === null ? 'nothing is published yet' : `people get version ${version}`}>
      <Problem error={act.error} />
      {hasDraft && changes.length > 0 && (
        <div class="changes">
          {changes.map(({ name, from, to }) => (
            <p key={name} class="change">
              <b>{name}</b>
              <del>{shown(from)}</del>
              <ins>{shown(to)}</ins>
            </p>
          ))}
        </div>
      )}
      <div class="card-foot row">
        <Button
          label={`Publish version ${(version ?? 0) + 1}`}
          look="primary"
          disabled={!hasDraft || changes.length === 0 || act.isUnderWay}
          onClick={publish}
        />
        <small>
          {!hasDraft && 'There is no draft yet: setup writes one, or save one here.'}
          {hasDraft && changes.length === 0 && 'People get what the drafts say.'}
          {hasDraft && changes.length > 0 && 'Appearance and assistant go out together. Test keys get the drafts already.'}
        </small>
      </div>
    </Card>
  );
}
