/** The look of an app's assistant: colours in light and dark with their contrast, measures, words and logo, beside the widget itself. */
import { useEffect, useId, useState } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { ask, sendFile } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { FieldList } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import {
  type AppearanceDraft,
  configurationOf,
  type DraftedAppearance,
  type Drafts,
  type ServedThemes,
  useDrafts,
  useLogo,
} from '../preview/drafts-hook.ts';
import { PreviewCard } from '../preview/preview-card.tsx';
import { PublishCard } from '../preview/publish-card.tsx';
import { toast } from '../shell/toasts.tsx';
import { ColoursCard } from './colours-card.tsx';
import { type AppearanceFields, draftOf, FIRST_DRAFT, fieldsOf, LABELS, MEASURES } from './theme-fields.ts';

interface ContrastWarning {
  readonly check: string;
  readonly what: string;
  readonly fix?: { readonly token: string; readonly suggested: string };
}

interface AppearancePreview {
  readonly served: ServedThemes;
  readonly warnings: readonly ContrastWarning[];
}

/** Short enough to follow a colour picker, long enough to leave out what is dragged over. */
const SETTLED_MS = 120;

/** A draft that the service does not take yet leaves the preview as it was; saving says what is wrong with it. */
function useAppearancePreview(app: string, draft: AppearanceDraft): AppearancePreview | undefined {
  const [preview, hold] = useState<AppearancePreview>();
  const body = JSON.stringify(draft);
  useEffect(() => {
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      ask<AppearancePreview>('POST', `${appPath(app)}/appearance/preview`, JSON.parse(body), aborted.signal).then(hold, () => undefined);
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [app, body]);
  return preview;
}

/** A fix names a token of the light theme by its name alone. */
function pathOf(token: string): string {
  return token.includes('.') ? token : `theme.${token}`;
}

interface ContrastCardProps {
  readonly warnings: readonly ContrastWarning[];
  readonly onFix: (fix: { readonly token: string; readonly suggested: string }) => void;
}

function ContrastCard({ warnings, onFix }: ContrastCardProps) {
  if (warnings.length === 0) return null;
  return (
    <Card title="Hard to read" label="Contrast" note="WCAG 2.2; nothing is refused for it">
      <ul class="lines">
        {warnings.map(({ check, what, fix }) => (
          <li key={`${check} ${what}`} class="line">
            <span class="line-text">{what}</span>
            {fix !== undefined && (
              <button type="button" class="button" onClick={() => onFix({ token: pathOf(fix.token), suggested: fix.suggested })}>
                <svg class="dot" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                  <circle cx="6" cy="6" r="5.5" fill={fix.suggested} stroke="currentColor" stroke-width="0.5" />
                </svg>
                {LABELS[pathOf(fix.token)] ?? fix.token}: {fix.suggested}
              </button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

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

function Look({ app, drafts, draft }: { readonly app: App; readonly drafts: Drafts; readonly draft: AppearanceDraft | null }) {
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
  const logo = useLogo(app.id, logoId);
  return (
    <div class="beside">
      <div>
        {draft === null && (
          <p class="hint note">
            No appearance was saved yet, so people get the widget's own. Setup writes one from the colours of the app; or change something
            here.
          </p>
        )}
        <ContrastCard warnings={preview?.warnings ?? []} onFix={({ token, suggested }) => form.set(token, suggested)} />
        <ColoursCard form={form} served={served} />
        <Card title="Shape and words">
          <div class="fields">
            <FieldList form={form} fields={MEASURES} />
          </div>
        </Card>
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

interface LogoCardProps {
  readonly app: App;
  /** The service takes a logo once there is an appearance to put it into. */
  readonly hasDraft: boolean;
  readonly hasLogo: boolean;
  readonly onSaved: () => void;
}

function LogoCard({ app, hasDraft, hasLogo, onSaved }: LogoCardProps) {
  const id = useId();
  const act = useAct();
  const upload = (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (file === undefined) return;
    act.run(async () => {
      await sendFile(`${appPath(app.id)}/logo`, file);
      toast('The logo is in the draft.');
      onSaved();
    });
    input.value = '';
  };
  return (
    <Card title="Logo" note={hasLogo ? 'one is in the draft' : 'none yet'}>
      <Problem error={act.error} />
      <div class="card-body">
        <label htmlFor={id} class="hint">
          PNG, JPEG, WebP or SVG, up to 2 MB. Scripts and references to the outside are taken out of an SVG.
        </label>
        <input
          id={id}
          type="file"
          accept="image/png,image/jpeg,image/webp,image/svg+xml"
          disabled={!hasDraft || act.isUnderWay}
          onChange={(event) => upload(event.currentTarget)}
        />
        {!hasDraft && <p class="hint">Save the draft first: the logo becomes part of it.</p>}
      </div>
    </Card>
  );
}
