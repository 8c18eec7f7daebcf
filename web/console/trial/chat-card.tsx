/** The chat in the page: what it needs, and the SDK itself. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Key } from '../../../protocol/console/answers.ts';
import { useAsked } from '../api/asked-hook.ts';
import { type App, appAddress, appPath } from '../app/app.ts';
import { Button, Problem } from '../parts/card.tsx';

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether the service takes test requests from a page of this host: the same rule, so that the page can say what to do first. */
function isAllowed(app: App): boolean {
  const { hostname, host } = location;
  if (LOCAL_HOSTS.has(hostname)) return true;
  return app.allowed_domains.some((domain) => {
    return domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : domain === hostname || domain === host;
  });
}

export function ChatCard({ app, onTurn }: { readonly app: App; readonly onTurn: (turnId: string) => void }) {
  const keys = useAsked<{ readonly keys: readonly Key[] }>(`${appPath(app.id)}/keys`);
  const built = useAsked<{ readonly manifest: { readonly hash: string } | null }>(`${appPath(app.id)}/manifest`);
  const [isWanted, want] = useState(app.handshake_at !== null);
  const problem = keys.error ?? built.error;
  const again = () => {
    keys.reload();
    built.reload();
  };
  const key = keys.answer?.keys.find(({ channel }) => channel === 'test')?.key;
  return (
    <section class="card trial-chat" aria-label="Chat">
      <h2>
        Chat <small>the SDK itself, with a test key: never billed</small>
      </h2>
      <Problem error={problem} retry={again} />
      {keys.answer !== undefined && key === undefined && (
        <Need text="The app has no test key any more. Make one on its summary." href={appAddress(app.id)} label="Open the summary" />
      )}
      {key !== undefined && !isAllowed(app) && (
        <Need
          text={`Pages of ${location.hostname} may not speak to this app. Add the host to its allowed domains.`}
          href={appAddress(app.id, 'settings')}
          label="Open the settings"
        />
      )}
      {key !== undefined && isAllowed(app) && !isWanted && (
        <div class="card-body">
          <p class="hint">
            No build of the app has called in yet. A message from here counts as its first call, and ticks the step “Building and verifying”
            of a setup session.
          </p>
          <Button label="Chat all the same" onClick={() => want(true)} />
        </div>
      )}
      {key !== undefined && isAllowed(app) && isWanted && built.answer !== undefined && (
        <ChatPlace apiKey={key} hash={built.answer.manifest?.hash} onTurn={onTurn} />
      )}
    </section>
  );
}

function Need({ text, href, label }: { readonly text: string; readonly href: string; readonly label: string }) {
  return (
    <div class="card-body">
      <p>{text}</p>
      <Button label={label} href={href} />
    </div>
  );
}

interface ChatPlaceProps {
  readonly apiKey: string;
  readonly hash: string | undefined;
  readonly onTurn: (turnId: string) => void;
}

function ChatPlace({ apiKey, hash, onTurn }: ChatPlaceProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(onTurn);
  latest.current = onTurn;
  useEffect(() => {
    const host = place.current;
    if (host === null) return undefined;
    let isOver = false;
    let end = () => {};
    // The widget is large: it comes once it is wanted.
    void import('./chat.ts').then(({ startChat }) => {
      if (!isOver) end = startChat(host, apiKey, hash, (turnId) => latest.current(turnId)).end;
    });
    return () => {
      isOver = true;
      end();
    };
  }, [apiKey, hash]);
  return (
    <div class="trial-place">
      <div ref={place} />
    </div>
  );
}
