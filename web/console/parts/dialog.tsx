/** A dialog above the page, which Escape closes; and one that asks before something is done. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Act } from '../api/act-hook.ts';
import { Button, Problem } from './card.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps extends DialogProps {
  readonly verb: string;
  readonly keep: string;
  readonly isHarmless?: boolean;
  readonly act: Act;
  readonly onConfirm: () => void;
}

export function Confirm({ title, verb, keep, isHarmless = false, act, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        {children}
        <Problem error={act.error} retry={onConfirm} />
        <div class="row">
          <Button label={verb} look={isHarmless ? 'primary' : 'danger'} disabled={act.isUnderWay} onClick={onConfirm} />
          <Button label={keep} look="bare" onClick={onClose} />
        </div>
      </div>
    </Dialog>
  );
}
