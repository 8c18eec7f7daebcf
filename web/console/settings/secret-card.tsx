/** The identity secret: shown when it is asked for, copied and rotated. */

import { useState } from 'preact/hooks';
import type { Secret } from '../../../protocol/console/answers.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { Button, Card, Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { momentOf } from '../parts/times.ts';

export function SecretCard({ app }: { readonly app: App }) {
  const path = `${appPath(app.id)}/identity-secret`;
  const [secret, show] = useState<Secret>();
  const [isAsked, question] = useState(false);
  const act = useAct();
  const read = () => act.run(async () => show(await ask<Secret>('GET', path)));
  const rotate = () =>
    act.run(async () => {
      show(await ask<Secret>('POST', `${path}/rotate`));
      question(false);
    });
  return (
    <Card title="Identity secret">
      <div class="card-body">
        <p class="hint">
          Your backend signs the ids of people with it: HMAC-SHA256 of the id, in lowercase hex. It never belongs in the app or in a page.
        </p>
        {act.error !== undefined && !isAsked && <Problem error={act.error} />}
        {secret !== undefined && <code class="secret selectable">{secret.identity_secret}</code>}
        {secret?.previous != null && (
          <p class="hint">Signatures made with the one before count until {momentOf(secret.previous.valid_until)}.</p>
        )}
        <div class="row">
          {secret === undefined ? (
            <Button label="Show the secret" disabled={act.isUnderWay} onClick={read} />
          ) : (
            <>
              <CopyButton text={secret.identity_secret} label="Copy the secret" />
              <Button label="Hide" onClick={() => show(undefined)} />
            </>
          )}
          <Button label="Rotate…" look="bare" onClick={() => question(true)} />
        </div>
      </div>
      {isAsked && (
        <Confirm
          title="Rotate the identity secret"
          verb="Rotate the secret"
          keep="Keep it"
          act={act}
          onConfirm={rotate}
          onClose={() => question(false)}
        >
          <p class="hint">
            A new secret takes its place. Signatures made with this one count for 24 hours more: change your backend by then.
          </p>
        </Confirm>
      )}
    </Card>
  );
}
