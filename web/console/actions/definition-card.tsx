/** A definition as it is sent: edited, added, archived. What the service refuses of it stands below it. */

import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { ApiError } from '../api/request.ts';
import { type App, appPath } from '../app/app.ts';
import { Button, Card } from '../parts/card.tsx';
import { useDraft } from '../parts/draft-hook.ts';
import { TextField } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { toast } from '../shell/toasts.tsx';
import { type Definition, paramsOf } from './declared.ts';

export type Kind = 'actions' | 'screens';

/** Stands in the address for one that is not declared yet; no name is spelled so. */
export const NEW_ITEM = '+';

const EXAMPLES: Readonly<Record<Kind, Definition>> = {
  actions: {
    external_key: 'orders/status',
    name: 'get_order_status',
    description: 'Looks up where an order is. Call it when the person asks about an order.',
    method: 'GET',
    url_template: 'https://api.example.com/orders/{{param.order_id}}',
    params: [{ name: 'order_id', description: 'Number of the order', required: true, type: 'string', example: 'A-1042' }],
  },
  screens: { name: 'order_detail', title: 'Your order', description: 'One order and where it is.' },
};

interface DefinitionCardProps {
  readonly app: App;
  readonly kind: Kind;
  readonly item: string;
  readonly definition: Definition | undefined;
  /** `name` undefined: it is out of service. */
  readonly onSaved: (name: string | undefined) => void;
}

interface ActionsReply {
  readonly results: readonly { readonly ok: boolean; readonly error?: string }[];
}

/** The JSON object in a text. @throws ApiError where there is none. */
function parsed(text: string): Definition {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Definition;
  } catch (error) {
    throw new ApiError('invalid_json', `This is no JSON yet: ${error instanceof Error ? error.message : 'it cannot be read'}.`, 0);
  }
  throw new ApiError('invalid_json', 'A definition is a JSON object, in braces.', 0);
}

/** Sends one item of a batch. @throws ApiError with what was wrong with it. */
async function sendItem(app: App, kind: Kind, item: Definition): Promise<void> {
  if (kind === 'screens') {
    await ask('POST', `${appPath(app.id)}/screens`, { screens: [item] });
    return;
  }
  const path = `${appPath(app.id)}/actions`;
  const { results } = await ask<ActionsReply>('POST', path, { items: [item] });
  const [result] = results;
  if (result?.ok === false) throw new ApiError('invalid_body', result.error ?? 'It was refused.', 422);
}

export function DefinitionCard({ app, kind, item, definition, onSaved }: DefinitionCardProps) {
  const saved = JSON.stringify(definition ?? EXAMPLES[kind], null, 2);
  const draft = useDraft(`${kind}.${app.id}.${item}`, { text: saved });
  const act = useAct();
  const isNew = definition === undefined;
  const save = () =>
    act.run(async () => {
      const value = parsed(draft.values.text);
      await sendItem(app, kind, value);
      draft.discard();
      toast(isNew ? 'Declared.' : 'Saved. It counts for the next request.');
      onSaved(typeof value.name === 'string' ? value.name : item);
    });
  const archive = () =>
    act.run(async () => {
      const path = `${appPath(app.id)}/${kind}`;
      if (kind === 'screens') await ask('POST', path, { archive: [{ name: definition?.name }] });
      else await ask('POST', path, { items: [{ op: 'archive', external_key: definition?.external_key }] });
      draft.discard();
      toast('It is out of service. Declare it again to have it back.');
      onSaved(undefined);
    });
  return (
    <Card title={isNew ? (kind === 'actions' ? 'A new action' : 'A new screen') : 'Edit definition'} label="Definition">
      <Form
        look="card-body definition-form"
        act={act}
        verb={isNew ? 'Declare it' : 'Save the definition'}
        isReady={isNew || draft.changed.length > 0}
        onSubmit={save}
        more={
          <>
            {draft.changed.length > 0 && <Button label="Discard" onClick={draft.discard} />}
            {!isNew && <Button label="Take it out of service" look="danger" disabled={act.isUnderWay} onClick={archive} />}
          </>
        }
      >
        <TextField
          label="Definition as JSON"
          hint={HINTS[kind]}
          value={draft.values.text}
          onInput={(text) => draft.set('text', text)}
          rows={16}
          isMono
        />
      </Form>
    </Card>
  );
}

const EFFECTS: Readonly<Record<string, string>> = {
  read: 'Reads only: runs without asking.',
  write: 'Changes something: the person agrees first.',
  destructive: 'Destroys something: the person agrees first.',
};

/** What people ask of a definition first; all of it is its JSON. */
export function DefinitionFacts({ kind, definition }: { readonly kind: Kind; readonly definition: Definition }) {
  const { description, risk = 'read', method, url_template: url } = definition;
  const params = paramsOf(definition);
  return (
    <>
      <p>{String(description ?? '')}</p>
      {kind === 'actions' && (
        <dl class="call-facts">
          <dt>Does</dt>
          <dd>{EFFECTS[String(risk)] ?? String(risk)}</dd>
          {url !== undefined && (
            <>
              <dt>Calls</dt>
              <dd>
                <code>
                  {String(method)} {String(url)}
                </code>
              </dd>
            </>
          )}
          <dt>Takes</dt>
          <dd>
            {params.length === 0 && 'nothing'}
            {params.map(({ name, type, required, description: what }) => (
              <p key={name}>
                <code>{name}</code> <small>{[type ?? 'string', ...(required === true ? [] : ['may be left out'])].join(', ')}</small> {what}
              </p>
            ))}
          </dd>
        </dl>
      )}
    </>
  );
}

const HINTS: Readonly<Record<Kind, string>> = {
  actions:
    'The description tells the assistant when to call it. Whatever changes data asks the person first, by its confirm_template, and uses auth user.',
  screens: 'The name is the one that the app registers. The description tells the assistant what the screen shows.',
};
