/** The look of an app's assistant: colours in light and dark with their contrast, measures, words and logo, beside the widget itself. */
import { ask } from '../api/api.ts';
import { Problem } from '../api/problem.tsx';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { type AppearanceDraft, configurationOf, type DraftedAppearance, type Drafts, useDrafts } from '../preview/drafts-hook.ts';
import { PreviewCard } from '../preview/preview-card.tsx';
import { PublishCard } from '../preview/publish-card.tsx';
import { ColoursCard } from './colours-card.tsx';
import { ContrastCard } from './contrast-card.tsx';
import { LogoCard } from './logo-card.tsx';
import { useLogo } from './logo-hook.ts';
import { MeasuresCard } from './measures-card.tsx';
import { useAppearancePreview } from './preview-hook.ts';
import { type AppearanceFields, draftOf, FIRST_DRAFT, fieldsOf, LABELS } from './theme-fields.ts';

export function AppearancePage() {
  return <AppPage title="Appearance">{(app) => <Loaded app={app} />}</AppPage>;
}

function Loaded({ app }: { readonly app: App }) {
  const drafts = useDrafts(app.id);
  return (
    <>
      <Problem error={drafts.error} retry={drafts.reload} />
      {drafts.appearance !== undefined && <Look app={app} drafts={drafts} draft={drafts.appearance.draft} />}
    </>
  );
}

interface LookProps {
  readonly app: App;
  readonly drafts: Drafts;
  readonly draft: AppearanceDraft | null;
}

function Look({ app, drafts, draft }: LookProps) {
  const before = draft ?? FIRST_DRAFT;
  const path = `${appPath(app.id)}/appearance`;
  let latest = before;
  const send = async (_: Partial<AppearanceFields>, values: AppearanceFields) => {
    await ask('PUT', path, draftOf(values, latest));
    await drafts.reload();
  };
  const form = useForm<AppearanceFields>(`appearance-${app.id}`, fieldsOf(before), send, {
    async read() {
      // The whole draft is sent: also what it has beside these fields is that of now.
      latest = (await ask<DraftedAppearance>('GET', path)).draft ?? FIRST_DRAFT;
      return fieldsOf(latest);
    },
    reload: drafts.reload,
  });
  const typed = draftOf(form.values, before);
  const preview = useAppearancePreview(app.id, typed);
  const served = preview?.served ?? drafts.appearance?.served ?? null;
  const logoId = before.theme.logoAssetId;
  const logo = useLogo(app.id, typeof logoId === 'string' ? logoId : undefined);
  return (
    <div class="beside">
      <div>
        {draft === null && (
          <p class="hint note">
            No look was saved yet, so people get the widget's own. Setup writes one from the colours of the app; or change something here.
          </p>
        )}
        <ContrastCard warnings={preview?.warnings ?? []} onFix={({ token, suggested }) => form.set(token, suggested)} />
        <ColoursCard form={form} served={served} />
        <MeasuresCard form={form} />
        <LogoCard app={app} hasDraft={draft !== null} hasLogo={logoId !== undefined} onSaved={drafts.reload} />
        <PublishCard app={app} drafts={drafts} />
        <SaveBar form={form} labels={LABELS} verb="Save the draft" />
      </div>
      <PreviewCard
        configuration={configurationOf(served ?? { theme: typed.theme, themeDark: {} }, typed.copilot, drafts.experience?.draft ?? null)}
        logo={logo}
      />
    </div>
  );
}
