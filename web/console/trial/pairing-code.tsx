/** The code of a pairing that waits for its build: to be typed, scanned, or followed as a link to a build that is a page. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PAIRING_PARAMETER } from '../../../protocol/runtime/web-sdk.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { useDraft } from '../parts/draft-hook.ts';
import { TextField } from '../parts/fields.tsx';

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
export function PairingCode({ app, code }: { readonly app: string; readonly code: string }) {
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
