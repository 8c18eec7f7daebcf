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
import { Problem } from '../api/problem.tsx';
import { type App, appPath } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { TextArea, TextField } from '../parts/fields.tsx';
import { type Form, useForm } from '../parts/form-hook.ts';
import { linesOf } from '../parts/lines.ts';
import { SaveBar } from '../parts/save-bar.tsx';
import { configurationOf, type DraftedExperience, type Drafts, useDrafts } from '../preview/drafts-hook.ts';
import { PreviewCard } from '../preview/preview-card.tsx';
import { PublishCard } from '../preview/publish-card.tsx';

function InstructionsCard({ published_version: version, instructions: { sandbox, live } }: DraftedExperience) {
  return (
    <section class="card" aria-label="What the model is told">
      <h2>
        What the model is told <small>as saved; passages, screens and what was said come after it</small>
      </h2>
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
    </section>
  );
}

interface Fields extends Record<string, unknown> {
  readonly assistantName: string;
  readonly tone: string;
  readonly instructions: string;
  readonly guardrails: string;
  readonly topics: string;
  readonly languages: string;
  readonly welcomeTitle: string;
  readonly welcomeBody: string;
  readonly suggestions: string;
}

const LABELS: Readonly<Record<keyof Fields & string, string>> = {
  assistantName: 'Name',
  tone: 'Tone',
  instructions: 'Instructions',
  guardrails: 'Rules',
  topics: 'Topics it stays out of',
  languages: 'Languages',
  welcomeTitle: 'Greeting',
  welcomeBody: 'Line below it',
  suggestions: 'Suggested questions',
};

const LISTS: ReadonlySet<string> = new Set(['topics', 'languages', 'suggestions']);

function fieldsOf(draft: ExperienceDraft | null): Fields {
  return {
    assistantName: draft?.assistantName ?? '',
    tone: draft?.tone ?? '',
    instructions: draft?.instructions ?? '',
    guardrails: draft?.guardrails ?? '',
    topics: (draft?.topics ?? []).join('\n'),
    languages: (draft?.languages ?? []).join('\n'),
    welcomeTitle: draft?.welcomeTitle ?? '',
    welcomeBody: draft?.welcomeBody ?? '',
    suggestions: (draft?.suggestions ?? []).join('\n'),
  };
}

function patchOf(changes: Partial<Fields>): ExperienceDraft {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, LISTS.has(name) ? linesOf(String(value)) : value]));
}

export function AssistantPage() {
  return <AppPage title="Assistant">{(app) => <Loaded app={app} />}</AppPage>;
}

function Loaded({ app }: { readonly app: App }) {
  const drafts = useDrafts(app.id);
  return (
    <>
      <Problem error={drafts.error} retry={drafts.reload} />
      {drafts.experience !== undefined && <Persona app={app} drafts={drafts} draft={drafts.experience.draft} />}
    </>
  );
}

function Persona({ app, drafts, draft }: { readonly app: App; readonly drafts: Drafts; readonly draft: ExperienceDraft | null }) {
  const path = `${appPath(app.id)}/experience`;
  const send = async (changes: Partial<Fields>) => {
    await ask('PUT', path, patchOf(changes));
    await drafts.reload();
  };
  const form = useForm<Fields>(`assistant-${app.id}`, fieldsOf(draft), send, {
    read: async () => fieldsOf((await ask<DraftedExperience>('GET', path)).draft),
    reload: drafts.reload,
  });
  const shown = { ...draft, ...patchOf(form.values) };
  return (
    <div class="beside">
      <div>
        <WelcomeFields form={form} />
        <AnswerFields form={form} />
        {drafts.experience !== undefined && <InstructionsCard {...drafts.experience} />}
        <PublishCard app={app} drafts={drafts} />
        <SaveBar form={form} labels={LABELS} verb="Save the draft" />
      </div>
      <PreviewCard configuration={configurationOf(drafts.appearance?.served ?? null, drafts.appearance?.draft?.copilot, shown)} />
    </div>
  );
}

interface FieldsProps {
  readonly form: Form<Fields>;
}

function WelcomeFields({ form }: FieldsProps) {
  const { values, set, faultOf } = form;
  const field = (name: keyof Fields & string) => ({
    label: LABELS[name] ?? name,
    value: String(values[name]),
    fault: faultOf(name),
    onInput: (to: string) => set(name, to),
  });
  return (
    <section class="card" aria-label="What people see first">
      <h2>What people see first</h2>
      <div class="fields is-tall">
        <TextField {...field('assistantName')} max={PERSONA_NAME_MAX_CHARS} placeholder="Assistant" />
        <TextField {...field('welcomeTitle')} max={WELCOME_TITLE_MAX_CHARS} />
        <TextArea {...field('welcomeBody')} max={WELCOME_BODY_MAX_CHARS} rows={2} />
        <TextArea
          {...field('suggestions')}
          rows={SUGGESTIONS_MAX}
          hint={`Up to ${SUGGESTIONS_MAX}, one a line, ${SUGGESTION_MAX_CHARS} characters each: what people most often come for.`}
        />
      </div>
    </section>
  );
}

function AnswerFields({ form }: FieldsProps) {
  const { values, set, faultOf } = form;
  const field = (name: keyof Fields & string) => ({
    label: LABELS[name] ?? name,
    value: String(values[name]),
    fault: faultOf(name),
    onInput: (to: string) => set(name, to),
  });
  return (
    <section class="card" aria-label="How it answers">
      <h2>How it answers</h2>
      <div class="fields is-tall">
        <TextArea {...field('tone')} max={PERSONA_TEXT_MAX_CHARS} rows={2} hint="How it speaks: short or at length, formal or not." />
        <TextArea
          {...field('instructions')}
          max={PERSONA_TEXT_MAX_CHARS}
          hint="What it should know and do that knowledge and actions do not say."
        />
        <TextArea
          {...field('guardrails')}
          max={PERSONA_TEXT_MAX_CHARS}
          hint="One a line, each starting with Always or Never."
          placeholder="Never promise a delivery date."
        />
        <TextArea {...field('topics')} rows={2} hint={`Up to ${PERSONA_TOPICS_MAX}, one a line.`} placeholder="Medical advice" />
        <TextArea
          {...field('languages')}
          rows={2}
          isMono
          hint={`Up to ${PERSONA_LANGUAGES_MAX} subtags, one a line, the default first. None: whatever the person writes in.`}
          placeholder="en"
        />
      </div>
    </section>
  );
}
