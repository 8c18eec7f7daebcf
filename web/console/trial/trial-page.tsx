/** Test: the assistant tried in the page, or a build watched, and beside it where the time of a turn went. */

import { useRoute } from 'preact-iso';
import type { App } from '../app/app.ts';
import { AppPage } from '../app/app-page.tsx';
import { SideBySide } from '../parts/choices.tsx';
import { type Go, useGo } from '../shell/address.ts';
import { ChatCard } from './chat-card.tsx';
import { PairingCard } from './pairing-card.tsx';
import { TurnCard } from './turn-card.tsx';

const WITH = [
  ['chat', 'Chat here'],
  ['build', 'Watch a build'],
] as const;

export function TrialPage() {
  const { query } = useRoute();
  const go = useGo();
  const shown = query.with === 'build' ? 'build' : 'chat';
  return (
    <AppPage
      title="Test"
      facts="Try the assistant as it is configured now, drafts included. Nothing here is billed."
      actions={
        <SideBySide label="What is tried" value={shown} options={WITH} onChange={(value) => go({ with: value, turn_id: undefined })} />
      }
    >
      {(app) => <Trial app={app} shown={shown} go={go} />}
    </AppPage>
  );
}

function Trial({ app, shown, go }: { readonly app: App; readonly shown: 'chat' | 'build'; readonly go: Go }) {
  const { query } = useRoute();
  const showTurn = (turnId: string) => go({ turn_id: turnId }, true);
  return (
    <div class="trial">
      {shown === 'chat' ? (
        <ChatCard app={app} onTurn={showTurn} />
      ) : (
        <PairingCard
          app={app}
          id={query.pairing}
          onPairing={(pairing) => go({ pairing, turn_id: undefined })}
          onTurn={showTurn}
          turnId={query.turn_id}
        />
      )}
      {query.turn_id === undefined ? (
        <p class="empty">Ask something, and the steps of the turn appear here: admission, model, calls, and what each took.</p>
      ) : (
        <TurnCard key={query.turn_id} app={app.id} turnId={query.turn_id} />
      )}
    </div>
  );
}
