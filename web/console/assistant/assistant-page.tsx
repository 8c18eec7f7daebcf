/** The assistant of an app: who answers and how, with the limits counted, beside the welcome that people see. */
import {
  PERSONA_LANGUAGES_MAX,
  PERSONA_NAME_MAX_CHARS,
  PERSONA_TEXT_MAX_CHARS,
  PERSONA_TOPICS_MAX,
  SUGGESTION_MAX_CHARS,
  SUGGESTIONS_MAX,
  WELCOME_BODY_MAX_CHARS,
  WELCOME_TITLE_MAX_CHARS,
} from '../../../protocol/limits.ts';
import type { ExperienceDraft } from '../../../protocol/setup/persona.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { Card, Problem } from '../parts/card.tsx';
import { type FieldEntry, FieldList, labelsOf, linesOf } from '../parts/fields.tsx';
import { useForm } from '../parts/form-hook.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { configurationOf, type DraftedExperience, type Drafts, useDrafts, useLogo } from '../preview/drafts-hook.ts';
import { PreviewCard } from '../preview/preview-card.tsx';
import { PublishCard } from '../preview/publish-card.tsx';
import { choiceOf, modelEntries, modelFieldsOf } from './model-fields.ts';

function InstructionsCard({ published_version: version, instructions: { sandbox, live } }: DraftedExperience) {
  return (
    <Card title="What the model is told" note="as saved; passages, screens and what was said come after it">
      <div class="card-body">
        <details>
          <summary>The draft, with test keys</summary>
          <pre class="selectable">{sandbox}</pre>
        </details>
        {version !== null && live !== sandbox && (
          <details>
            <summary>Version {version}, with live keys</summary>
            <pre class="selectable">{live}</pre>
          </details>
        )}
      </div>
    </Card>
  );
}

const GROUPS: readonly { readonly title: string; readonly fields: readonly FieldEntry[] }[] = [
  {
    title: 'What people see first',
    fields: [
      { name: 'assistantName', label: 'Name', max: PERSONA_NAME_MAX_CHARS, placeholder: 'Assistant' },
      { name: 'welcomeTitle', label: 'Greeting', max: WELCOME_TITLE_MAX_CHARS },
      { name: 'welcomeBody', kind: 'long', label: 'Subtitle', max: WELCOME_BODY_MAX_CHARS, rows: 2 },
      {
        name: 'suggestions',
        kind: 'long',
        label: 'Suggested questions',
        rows: SUGGESTIONS_MAX,
        hint: `Up to ${SUGGESTIONS_MAX}, one a line, ${SUGGESTION_MAX_CHARS} characters each: what people most often come for.`,
      },
    ],
  },
  {
    title: 'How it answers',
    fields: [
      {
        name: 'tone',
        kind: 'long',
        label: 'Tone',
        max: PERSONA_TEXT_MAX_CHARS,
        rows: 2,
        hint: 'How it speaks: short or at length, formal or not.',
      },
      {
        name: 'instructions',
        kind: 'long',
        label: 'Instructions',
        rows: 6,
        max: PERSONA_TEXT_MAX_CHARS,
        hint: 'What it should know and do that knowledge and actions do not say.',
      },
      {
        name: 'guardrails',
        kind: 'long',
        label: 'Rules',
        max: PERSONA_TEXT_MAX_CHARS,
        hint: 'One a line, each starting with Always or Never.',
        placeholder: 'Never promise a delivery date.',
      },
      {
        name: 'topics',
        kind: 'long',
        label: 'Topics it stays out of',
        rows: 2,
        hint: `Up to ${PERSONA_TOPICS_MAX}, one a line.`,
        placeholder: 'Medical advice',
      },
      {
        name: 'languages',
        kind: 'lines',
        label: 'Languages',
        hint: `Up to ${PERSONA_LANGUAGES_MAX} subtags, one a line, the default first. None: whatever the person writes in.`,
        placeholder: 'en',
      },
    ],
  },
];
const PERSONA_LABELS = labelsOf(GROUPS.flatMap(({ fields }) => fields));
const LABELS = { ...PERSONA_LABELS, ...labelsOf(modelEntries([], 'any')) };

/** They are lines of text here. */
const LISTS: ReadonlySet<string> = new Set(['topics', 'languages', 'suggestions']);

type Fields = Readonly<Record<string, string | number | null>>;

function fieldsOf(draft: ExperienceDraft | null): Fields {
  const values: Readonly<Record<string, unknown>> = { ...draft };
  const persona = Object.fromEntries(Object.keys(PERSONA_LABELS).map((name) => [name, [values[name] ?? ''].flat().join('\n')]));
  return { ...persona, ...modelFieldsOf(draft?.model) };
}

/** `values`: of all fields, because the choice of a model is saved as a whole. */
function patchOf(changes: Partial<Fields>, values: Fields): ExperienceDraft {
  const persona = Object.entries(changes).filter(([name]) => Object.hasOwn(PERSONA_LABELS, name));
  return {
    ...Object.fromEntries(persona.map(([name, value]) => [name, LISTS.has(name) ? linesOf(String(value)) : value])),
    ...(persona.length < Object.keys(changes).length && { model: choiceOf(values) }),
  };
}

export function AssistantPage() {
  return (
    <AppPage title="Assistant" facts="Who answers, and how. People get what is published; the preview shows what is typed.">
      {(app) => <Loaded app={app} />}
    </AppPage>
  );
}

function Loaded({ app }: { readonly app: App }) {
  const drafts = useDrafts(app.id);
  return (
    <>
      <Problem error={drafts.error} retry={drafts.reload} />
      {drafts.experience !== undefined && <Persona app={app} drafts={drafts} experience={drafts.experience} />}
    </>
  );
}

interface PersonaProps {
  readonly app: App;
  readonly drafts: Drafts;
  readonly experience: DraftedExperience;
}

function Persona({ app, drafts, experience }: PersonaProps) {
  const { draft, models } = experience;
  const path = `${appPath(app.id)}/experience`;
  const send = async (changes: Partial<Fields>, values: Fields) => {
    await ask('PUT', path, patchOf(changes, values));
    await drafts.reload();
  };
  const form = useForm<Fields>(`assistant-${app.id}`, fieldsOf(draft), send, {
    read: async () => fieldsOf((await ask<DraftedExperience>('GET', path)).draft),
    reload: drafts.reload,
  });
  const logo = useLogo(app.id, drafts.appearance?.draft?.theme.logoAssetId);
  const shown = { ...draft, ...patchOf(form.values, form.values) };
  return (
    <div class="beside">
      <div>
        {[
          ...GROUPS,
          {
            title: 'Which model answers',
            fields: modelEntries(models, String(form.values['model.use']), String(form.values['model.fallbacks'])),
          },
        ].map(({ title, fields }) => (
          <Card key={title} title={title}>
            <div class="fields is-tall">
              <FieldList form={form} fields={fields} />
            </div>
          </Card>
        ))}
        <InstructionsCard {...experience} />
        <PublishCard app={app} drafts={drafts} />
        <SaveBar form={form} labels={LABELS} verb="Save the draft" />
      </div>
      <PreviewCard
        configuration={configurationOf(drafts.appearance?.served ?? null, drafts.appearance?.draft?.copilot, shown)}
        logo={logo}
      />
    </div>
  );
}
