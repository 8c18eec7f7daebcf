/** A read that is tried: values for its parameters, the request that goes out, and the answer as the assistant gets it. */

import { useState } from 'preact/hooks';
import type { DeclaredAction, DeclaredParam, Tried } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { Card } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { useDraft } from '../parts/draft-hook.ts';
import { TextField } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { StateChip } from '../parts/state-chip.tsx';

function exampleText({ example }: DeclaredParam): string {
  if (example === undefined || example === null) return '';
  if (Array.isArray(example)) return example.map(String).join('\n');
  return typeof example === 'object' ? '' : String(example);
}

function typedAs(type: DeclaredParam['type'], text: string): unknown {
  // What is no number or no yes or no stays text, and the service says so.
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** What is sent: an empty field is left out; of a list each line is an item. */
function sentValues(params: readonly DeclaredParam[], texts: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const entries = params.flatMap((param): [string, unknown][] => {
    const text = texts[param.name] ?? '';
    if (text === '') return [];
    if (param.type !== 'array') return [[param.name, typedAs(param.type, text)]];
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return [[param.name, lines.map((line) => typedAs(param.items ?? 'string', line))]];
  });
  return Object.fromEntries(entries);
}

interface ValueFieldProps {
  readonly param: DeclaredParam;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly fault: string | undefined;
}

function ValueField({ param, text, onText, fault }: ValueFieldProps) {
  const { name, type, items = 'string', required, description, enum: allowed } = param;
  const kind = type === 'array' ? `a list of ${items} values, a line each` : type;
  const choice = type === 'boolean' ? ', true or false' : allowed === undefined ? '' : `, one of ${allowed.join(', ')}`;
  const frame = {
    label: name,
    hint: `${description === '' ? '' : `${description} · `}${kind}${choice}${required ? '' : ' · may be left empty'}`,
    fault: fault ?? '',
    value: text,
    onInput: onText,
  };
  return <TextField {...frame} rows={type === 'array' ? 3 : undefined} isMono />;
}

export function TrialCard({ app, action }: { readonly app: App; readonly action: DeclaredAction }) {
  const { params, auth, name } = action;
  const examples = Object.fromEntries(params.map((param) => [param.name, exampleText(param)]));
  const { values, set } = useDraft<Readonly<Record<string, string>>>(`trial.${app.id}.${name}`, examples);
  const [token, type] = useState('');
  const [tried, hold] = useState<Tried>();
  const act = useAct();
  const call = () =>
    act.run(async () => {
      const body = { params: sentValues(params, values), ...(token === '' ? {} : { user_token: token }) };
      hold(await ask<Tried>('POST', `${appPath(app.id)}/actions/${encodeURIComponent(name)}/call`, body));
    });
  const faultOf = (param: string) => act.error?.details.find(({ path }) => path === `params.${param}`)?.message;
  return (
    <Card title="Try it">
      <Form look="card-body definition-form" act={act} verb={act.isUnderWay ? 'Calling …' : 'Call it'} onSubmit={call}>
        <p class="hint">Sends one real request to {action.host}, as a turn would. It is no part of any conversation.</p>
        {params.map((param) => (
          <ValueField
            key={param.name}
            param={param}
            text={values[param.name] ?? ''}
            onText={(text) => set(param.name, text)}
            fault={faultOf(param.name)}
          />
        ))}
        {auth === 'user' && (
          <label class="key-field">
            <span>Token of a signed-in person</span>
            <input
              class="input mono"
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
        )}
      </Form>
      {tried !== undefined && <TriedView tried={tried} />}
    </Card>
  );
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function requestText({ method, url, headers, body }: NonNullable<Tried['request']>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${url}\n${lines.join('\n')}${body === null ? '' : `\n\n${body}`}`;
}

function TriedView({ tried: { request, status, took_ms: took, outcome, result, error } }: { readonly tried: Tried }) {
  return (
    <div class="tried" role="status">
      <p class="row">
        <StateChip state={outcome} words={String(status ?? 'no answer')} />
        {outcome === 'succeeded' ? 'Answered' : 'Failed'} after {took.toLocaleString('en')} ms
      </p>
      {error !== null && <p class="fault">{error}</p>}
      {result !== null && (
        <>
          <h3>What the assistant is told</h3>
          <pre class="definition">{readable(result)}</pre>
        </>
      )}
      {request !== null && (
        <details open={outcome !== 'succeeded'}>
          <summary>The request, with credentials hidden</summary>
          <pre class="definition">{requestText(request)}</pre>
          <CopyButton text={requestText(request)} label="Copy the request" />
        </details>
      )}
    </div>
  );
}
