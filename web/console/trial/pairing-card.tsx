/** A build of the app, watched while somebody uses it: its code, then its turns as they are told. */

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PAIRING_PARAMETER } from '../../../protocol/runtime/web-sdk.ts';
import { useAct } from '../api/act-hook.ts';
import { ask } from '../api/api.ts';
import { follow } from '../api/follow.ts';
import type { ApiError } from '../api/request.ts';
import { type App, appPath } from '../app/app.ts';
import { Button, Problem } from '../parts/card.tsx';
import { timeLeft, useNow } from '../parts/clock-hook.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { useDraft } from '../parts/draft-hook.ts';
import { TextField } from '../parts/fields.tsx';
import { StateChip } from '../parts/state-chip.tsx';
import { type Pairing, type WatchedTurn, withPairingFrame } from './pairing.ts';

interface PairingCardProps {
  readonly app: App;
  readonly id: string | undefined;
  readonly onPairing: (id: string) => void;
  readonly onTurn: (turnId: string) => void;
  readonly turnId: string | undefined;
}

interface OpenedPairing {
  readonly pairing_id: string;
  readonly code: string;
}

/** The codes that this page opened: each is answered once. */
const codes = new Map<string, string>();

export function PairingCard({ app, id, onPairing, onTurn, turnId }: PairingCardProps) {
  const act = useAct();
  const open = () =>
    act.run(async () => {
      const opened = await ask<OpenedPairing>('POST', `${appPath(app.id)}/pairings`);
      codes.set(opened.pairing_id, opened.code);
      onPairing(opened.pairing_id);
    });
  return (
    <section class="card" aria-label="A build, watched">
      <h2>
        A build, watched
        <Button
          label={id === undefined ? 'Make a code' : 'Another code'}
          look={id === undefined ? 'primary' : ''}
          disabled={act.isUnderWay}
          onClick={open}
        />
      </h2>
      <Problem error={act.error} retry={open} />
      {id === undefined ? (
        <p class="card-empty">
          Make a code and scan it with a test build of the app, or type it there. For two hours you see here what is said in it, with
          placeholders for personal data.
        </p>
      ) : (
        <Watched key={id} app={app.id} id={id} onTurn={onTurn} turnId={turnId} />
      )}
    </section>
  );
}

interface Followed {
  readonly pairing?: Pairing;
  readonly turns: readonly WatchedTurn[];
  readonly isLive: boolean;
  readonly error?: ApiError;
}

function useFollowed(id: string): Followed {
  const [followed, hold] = useState<Followed>({ turns: [], isLive: false });
  useEffect(() => {
    let latest: Pairing | undefined;
    return follow(`/pairings/${encodeURIComponent(id)}/stream`, {
      onFrame(frame) {
        if (frame.event === 'pairing') latest = frame.data as Pairing;
        hold((before) => ({ ...before, ...withPairingFrame(before, frame) }));
      },
      onLive: (isLive) => hold((before) => ({ ...before, isLive })),
      isOver: () => latest?.state === 'over' || latest?.state === 'expired',
      onRefused: (error) => hold((before) => ({ ...before, error, isLive: false })),
    });
  }, [id]);
  return followed;
}

function Watched({ app, id, onTurn, turnId }: { readonly app: string; readonly id: string } & Pick<PairingCardProps, 'onTurn' | 'turnId'>) {
  const { pairing, turns, isLive, error } = useFollowed(id);
  const newest = turns.at(-1)?.turnId;
  useEffect(() => {
    if (newest !== undefined) onTurn(newest);
  }, [newest]);
  if (error !== undefined) return <Problem error={error} />;
  if (pairing === undefined) return null;
  return (
    <>
      <div class="card-body">
        <PairingState app={app} pairing={pairing} code={codes.get(id)} isLive={isLive} />
      </div>
      {turns.length > 0 && (
        <ol class="watched-turns" aria-label="Turns of the build">
          {turns.map((turn) => (
            <li key={turn.turnId}>
              <button
                type="button"
                class="watched-turn"
                aria-current={turn.turnId === turnId ? 'true' : undefined}
                onClick={() => onTurn(turn.turnId)}
              >
                <b>{turn.said === '' ? 'Results of actions' : turn.said}</b>
                <span>{turn.answer}</span>
                <small>{turn.ended ?? 'answering'}</small>
              </button>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function PairingState({
  app,
  pairing,
  code,
  isLive,
}: {
  readonly app: string;
  readonly pairing: Pairing;
  readonly code: string | undefined;
  readonly isLive: boolean;
}) {
  const nowMs = useNow();
  if (pairing.state === 'expired') return <p class="fault">The code was not typed in in time. Make another one.</p>;
  if (pairing.state === 'over') return <p class="hint">The two hours are over. Make another code to go on.</p>;
  if (pairing.state === 'claimed') {
    return (
      <p class="row">
        <StateChip state={isLive ? 'watching' : 'connecting_again'} />
        Device …{pairing.device}, for another {timeLeft(Date.parse(pairing.watched_until ?? '') - nowMs)}
      </p>
    );
  }
  return (
    <>
      {code === undefined ? (
        <p class="hint">The code is shown where it was made, and only there. Make another one.</p>
      ) : (
        <PairingCode app={app} code={code} />
      )}
      <p class="hint" role="timer">
        Waits for a build, for another {timeLeft(Date.parse(pairing.code_expires_at) - nowMs)}
      </p>
    </>
  );
}

/** The encoder is larger than the rest of the page, and is loaded with the first code that is shown. */
function useBarcode(): ComponentType<{ readonly format: 'qr'; readonly value: string }> | undefined {
  const [found, hold] = useState<{ readonly Barcode: ComponentType<{ readonly format: 'qr'; readonly value: string }> }>();
  useEffect(() => {
    let isGone = false;
    // Without it the code is typed.
    import('../../sdk/blocks/lazy/barcode.tsx').then(
      (part) => !isGone && hold(part),
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, []);
  return found?.Barcode;
}

/** The address that opens the build watched; undefined when the text is none of a page. */
function watchedAddress(text: string, code: string): string | undefined {
  if (!URL.canParse(text.trim())) return undefined;
  const address = new URL(text.trim());
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return undefined;
  address.searchParams.set(PAIRING_PARAMETER, code);
  return address.href;
}

/** `app`: the address of its build is kept for it in this window. */
function PairingCode({ app, code }: { readonly app: string; readonly code: string }) {
  const { values, set } = useDraft(`build-address.${app}`, { address: '' });
  const address = watchedAddress(values.address, code);
  const Barcode = useBarcode();
  return (
    <div class="pairing">
      <figure class="pairing-scan">
        {Barcode !== undefined && <Barcode format="qr" value={address ?? code} />}
        <figcaption class="unseen">
          {address === undefined ? 'The code, to scan' : 'The address of the build with the code, to scan'}
        </figcaption>
      </figure>
      <div class="pairing-ways">
        <p class="row">
          <code class="pairing-code">{code}</code> <CopyButton text={code} label="Copy the code" />
        </p>
        <p class="hint">Type it into a test build, or scan it there. A web page pairs itself when it is opened by the link below.</p>
        <TextField
          label="Address of a web build"
          hint="A page with a test key of this app. The code then leads to it, on a phone too."
          placeholder="https://staging.example.com/"
          fault={values.address.trim() !== '' && address === undefined ? 'must be an address that begins with https:// or http://' : ''}
          value={values.address}
          onInput={(text) => set('address', text)}
        />
        {address !== undefined && (
          <a class="button" href={address} target="_blank" rel="noreferrer">
            Open the build, watched
          </a>
        )}
      </div>
    </div>
  );
}
