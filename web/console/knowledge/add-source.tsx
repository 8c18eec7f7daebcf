/** Adding a text or a link to what the assistant knows, or sending one again. */
import { KNOWLEDGE_TEXT_MAX_CHARS, KNOWLEDGE_TITLE_MAX_CHARS } from '../../../protocol/limits.ts';
import { ask } from '../api/api.ts';
import { ApiError } from '../api/request.ts';
import { appPath } from '../app/app.ts';
import { type FieldEntry, FieldList } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { useForm } from '../parts/form-hook.ts';

interface ItemsAnswer {
  readonly results: readonly { readonly ok: boolean; readonly error?: string }[];
}

export async function sendItem(app: string, item: Readonly<Record<string, unknown>>): Promise<void> {
  const { results } = await ask<ItemsAnswer>('POST', `${appPath(app)}/knowledge`, { items: [item] });
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) throw new ApiError('refused', refused.error ?? 'The source was refused.', 422);
}

interface Fields extends Record<string, unknown> {
  readonly kind: 'url' | 'text';
  readonly uri: string;
  readonly title: string;
  readonly content: string;
  readonly key: string;
}

const EMPTY: Fields = { kind: 'url', uri: '', title: '', content: '', key: '' };
const KEY_MAX_CHARS = 120;

/** `Returns and refunds` → `returns-and-refunds`; of a link its host and path. */
function derivedKey({ kind, uri, title }: Fields): string {
  const from = kind === 'text' ? title : uri.replace(/^https?:\/\//i, '');
  return from
    .toLowerCase()
    .replaceAll(/[^a-z0-9/.]+/g, '-')
    .slice(0, KEY_MAX_CHARS)
    .replace(/^-/, '')
    .replace(/-$/, '');
}

function itemOf(values: Fields): Readonly<Record<string, unknown>> {
  const key = values.key.trim() === '' ? derivedKey(values) : values.key.trim();
  if (values.kind === 'text') return { external_key: key, kind: 'text', title: values.title, content: values.content };
  return { external_key: key, kind: 'url', uri: values.uri.trim(), ...(values.title === '' ? {} : { title: values.title }) };
}

function fieldsOf(values: Fields): readonly FieldEntry[] {
  const isText = values.kind === 'text';
  const address: FieldEntry = {
    name: 'uri',
    kind: 'mono',
    label: 'Address',
    placeholder: 'https://www.example.com/help/returns',
    hint: 'Read once, in the background. Send it again to have it read anew.',
  };
  const content: FieldEntry = {
    name: 'content',
    kind: 'long',
    label: 'Text',
    max: KNOWLEDGE_TEXT_MAX_CHARS,
    rows: 8,
    hint: 'Markdown: its headings say what a passage is about.',
  };
  return [
    {
      name: 'kind',
      kind: 'choice',
      label: 'What it is',
      options: [
        ['url', 'A link: a page, a PDF, a text'],
        ['text', 'A text, typed or pasted'],
      ],
    },
    ...(isText ? [] : [address]),
    { name: 'title', label: isText ? 'Title' : 'Title, if the page has none', max: KNOWLEDGE_TITLE_MAX_CHARS },
    ...(isText ? [content] : []),
    {
      name: 'key',
      kind: 'mono',
      label: 'Your own name for it',
      placeholder: derivedKey(values),
      hint: 'The same name again takes the place of what was there.',
    },
  ];
}

export function AddSource({ app, onAdded }: { readonly app: string; readonly onAdded: () => void }) {
  const form = useForm<Fields>(`knowledge-${app}`, EMPTY, async (_, values) => {
    await sendItem(app, itemOf(values));
    onAdded();
  });
  const { values, act } = form;
  const isText = values.kind === 'text';
  const isReady = isText ? values.title.trim() !== '' && values.content.trim() !== '' : values.uri.trim() !== '';
  return (
    <Form
      label="A new source"
      act={act}
      verb={act.isUnderWay ? 'Adding…' : isText ? 'Add the text' : 'Add the link'}
      isReady={isReady}
      onSubmit={form.save}
    >
      <FieldList form={form} fields={fieldsOf(values)} />
    </Form>
  );
}
