/** Uploading the logo. */

import { useId } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { sendFile } from '../api/api.ts';
import { type App, appPath } from '../app/app.ts';
import { Card, Problem } from '../parts/card.tsx';
import { toast } from '../shell/toasts.tsx';

export interface LogoCardProps {
  readonly app: App;
  /** The service takes a logo once there is an appearance to put it into. */
  readonly hasDraft: boolean;
  readonly hasLogo: boolean;
  readonly onSaved: () => void;
}

export function LogoCard({ app, hasDraft, hasLogo, onSaved }: LogoCardProps) {
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
