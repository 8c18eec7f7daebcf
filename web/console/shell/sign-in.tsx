/** Signing in: as a page when nobody is, as a dialog above everything when a session ends while the page is used. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/request.ts';
import { signIn } from '../api/session.ts';

/** A link that was followed in vain leads here, see gateway/console/shell.ts. */
function linkIsOver(): boolean {
  return new URLSearchParams(location.search).get('link') === 'over';
}

const LINK_OVER = 'This link was used already, or is older than 15 minutes.';

export function SignInPage() {
  useEffect(() => {
    document.title = 'Sign in · Console';
  }, []);
  return (
    <main class="gate" id="main">
      <span class="brand-mark" aria-hidden="true">
        A
      </span>
      <h1>Sign in to the console</h1>
      <SignInForm first={linkIsOver() ? LINK_OVER : ''} />
      <p class="hint">
        The service prints a one-time link when it starts. Its first start printed its token, once, or it is what you set as{' '}
        <code>OPERATOR_TOKEN</code>. <code>npm run cli -- token --rotate</code> makes another.
      </p>
    </main>
  );
}

export function SignInDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // Requests wait for it, so it stays until somebody has signed in: a browser may close it all the same, so it is opened again.
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={title}
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <h2 id={title}>Your session is over</h2>
      <p>Sign in again. What you typed is still there, and what was being sent is sent then.</p>
      <SignInForm first="" />
    </dialog>
  );
}

function SignInForm({ first }: { readonly first: string }) {
  const [secret, setSecret] = useState('');
  const [fault, setFault] = useState(first);
  const [isSending, setSending] = useState(false);
  const field = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const message = useId();
  const submit = async () => {
    setSending(true);
    try {
      await signIn(secret.trim());
    } catch (error) {
      setFault(error instanceof ApiError ? error.message : 'Signing in failed.');
      setSending(false);
    }
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label htmlFor={field}>Operator token, or a one-time link</label>
      <input
        ref={input}
        id={field}
        class="input mono"
        type="password"
        autoComplete="current-password"
        spellcheck={false}
        required
        value={secret}
        aria-invalid={fault !== ''}
        aria-describedby={message}
        onInput={(event) => setSecret(event.currentTarget.value)}
      />
      <p id={message} class="fault" role="alert">
        {fault}
      </p>
      <button type="submit" class="button primary" disabled={isSending || secret.trim() === ''}>
        Sign in
      </button>
    </form>
  );
}
