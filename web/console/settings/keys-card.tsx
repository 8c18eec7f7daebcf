/** The keys of an app: copied, created and revoked. */

import { useState } from 'preact/hooks';
import type { Key } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appPath } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { dayOf } from '../parts/times.ts';

const CHANNELS = ['live', 'test'] as const;

export function KeysCard({ app }: { readonly app: App }) {
  const path = `${appPath(app.id)}/keys`;
  const { answer, error, reload } = useAsked<{ readonly keys: readonly Key[] }>(path);
  const [revoking, revoke] = useState<Key>();
  const act = useAct();
  const create = (channel: string) =>
    act.run(async () => {
      await ask('POST', path, { channel });
      reload();
    });
  return (
    <Card title="Keys" note="public by design: they ship inside the app">
      <Problem error={error} retry={reload} />
      <Problem error={act.error} />
      <ul class="lines">
        {answer?.keys.map((key) => (
          <li key={key.id} class="line">
            <span class="chip">{key.channel}</span>
            <code class="line-text selectable">{key.key}</code>
            <small>{dayOf(key.created_at)}</small>
            <CopyButton text={key.key} label="Copy" />
            <button type="button" class="button" onClick={() => revoke(key)}>
              Revoke…<span class="unseen"> {key.key}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="card-foot row">
        {CHANNELS.map((channel) => (
          <button key={channel} type="button" class="button" disabled={act.isUnderWay} onClick={() => create(channel)}>
            New {channel} key
          </button>
        ))}
        <small>Live keys serve people. Test keys open conversations that nobody is billed for.</small>
      </div>
      {revoking !== undefined && (
        <RevokeDialog
          path={path}
          revoked={revoking}
          onClose={() => revoke(undefined)}
          onDone={() => {
            revoke(undefined);
            reload();
          }}
        />
      )}
    </Card>
  );
}

interface RevokeProps {
  readonly path: string;
  readonly revoked: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function RevokeDialog({ path, revoked, onClose, onDone }: RevokeProps) {
  const act = useAct();
  const revokeIt = async () => {
    await ask('DELETE', `${path}/${encodeURIComponent(revoked.id)}`);
    onDone();
  };
  return (
    <Confirm
      title={`Revoke this ${revoked.channel} key`}
      verb="Revoke the key"
      keep="Keep the key"
      act={act}
      onConfirm={() => act.run(revokeIt)}
      onClose={onClose}
    >
      <p class="hint">
        Builds with <code>{revoked.key}</code> stop working at once, and for good. Ship a build with another key first.
      </p>
    </Confirm>
  );
}
