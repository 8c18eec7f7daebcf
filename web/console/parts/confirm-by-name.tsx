/** A last question before something that cannot be taken back: its name is typed first. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { Problem } from '../api/problem.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';

export interface ConfirmByNameProps {
  readonly title: string;
  /** What has to be typed. */
  readonly name: string;
  /** What the button does, such as "Delete the app". */
  readonly verb: string;
  /** What is gone then. */
  readonly children: ComponentChildren;
  /** @throws ApiError, which is shown in the dialog. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

export function ConfirmByName({ title, name, verb, children, onConfirm, onClose }: ConfirmByNameProps) {
  const [typed, type] = useState('');
  const act = useAct();
  const isRight = typed.trim() === name.trim();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight) act.run(onConfirm);
        }}
      >
        <div class="hint">{children}</div>
        <TextField label={`Type ${name} to go on`} value={typed} onInput={type} />
        {act.error !== undefined && <Problem error={act.error} />}
        <div class="row">
          <button type="submit" class="button danger" disabled={!isRight || act.isUnderWay}>
            {verb}
          </button>
          <button type="button" class="button bare" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
