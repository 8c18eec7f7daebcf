/** A last question before something that cannot be taken back: its name is typed first. */

import { useState } from 'preact/hooks';
import { useAct } from '../api/act-hook.ts';
import { Button } from './card.tsx';
import { Dialog, type DialogProps } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { Form } from './form.tsx';

interface ConfirmByNameProps extends DialogProps {
  readonly name: string;
  readonly verb: string;
  /** @throws ApiError, which is shown in the dialog. */
  readonly onConfirm: () => Promise<unknown>;
}

export function ConfirmByName({ title, name, verb, children, onConfirm, onClose }: ConfirmByNameProps) {
  const [typed, type] = useState('');
  const act = useAct();
  const cancel = <Button label="Cancel" look="bare" onClick={onClose} />;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form act={act} verb={verb} button="danger" isReady={typed.trim() === name.trim()} onSubmit={() => act.run(onConfirm)} more={cancel}>
        <div class="hint">{children}</div>
        <TextField label={`Type ${name} to go on`} value={typed} onInput={type} />
      </Form>
    </Dialog>
  );
}
