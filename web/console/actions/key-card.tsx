/** The shared key of an action: it goes in and never comes out. */

import { useState } from 'preact/hooks';
import type { DeclaredAction } from '../../../protocol/console/setup-answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { Button, Card } from '../parts/card.tsx';
import { Form } from '../parts/form.tsx';
import { toast } from '../shell/toasts.tsx';

interface KeyCardProps {
  readonly app: App;
  readonly action: DeclaredAction;
  readonly onChange: () => void;
}

function placeOf({ needs_key: key }: DeclaredAction): string {
  if (key === null || key.kind === 'bearer') return 'as a bearer in Authorization';
  return key.kind === 'query' ? `as ${key.name ?? ''} in the address` : `in the header ${key.name ?? ''}`;
}

export function KeyCard({ app, action, onChange }: KeyCardProps) {
  const [value, type] = useState('');
  const act = useAct();
  const path = `${appPath(app.id)}/actions/${encodeURIComponent(action.name)}/key`;
  const enter = () =>
    act.run(async () => {
      const { host, actions } = await ask<{ readonly host: string; readonly actions: readonly string[] }>('PUT', path, { value });
      type('');
      toast(`The key of ${host} is kept. On now: ${actions.join(', ')}.`);
      onChange();
    });
  const remove = () =>
    act.run(async () => {
      await ask('DELETE', path);
      toast('The key is gone, and what needs it is off.');
      onChange();
    });
  return (
    <Card
      title="Key"
      aside={<span class={action.has_key ? 'chip is-ok' : 'chip is-wait'}>{action.has_key ? 'entered' : 'not entered'}</span>}
    >
      <Form
        look="card-body"
        act={act}
        verb="Enter the key"
        isReady={value !== ''}
        onSubmit={enter}
        more={action.has_key && <Button label="Take the key away" look="danger" disabled={act.isUnderWay} onClick={remove} />}
      >
        <p class="hint">
          {`For ${action.host}, sent ${placeOf(action)}. Every action of that host that needs a key uses it. It is stored encrypted and shown nowhere.`}
        </p>
        {action.needs_key?.note !== undefined && <p class="said-note">{action.needs_key.note}</p>}
        <label class="key-field">
          <span>{action.has_key ? 'Another key' : 'Key'}</span>
          <input class="input mono" type="password" autocomplete="off" value={value} onInput={(event) => type(event.currentTarget.value)} />
        </label>
      </Form>
    </Card>
  );
}
