/** Addresses that a person may follow, and how (BLOCKVIEW-4): https, mailto and tel; whatever else a block names stays text. */
import type { ComponentChildren } from 'preact';
import { isEmail, isHttpsUrl, isPhone, isWebUrl } from '../../../../protocol/catalog/text-checks.ts';
import type { BlockSurroundings } from '../block-view.ts';
import { unsaidHost } from './unsaid-host.ts';

type AddressKind = 'url' | 'phone' | 'email';

export function hrefOf(kind: AddressKind, value: string): string | undefined {
  if (kind === 'url') return isHttpsUrl(value) ? value : undefined;
  if (kind === 'email') return isEmail(value) ? `mailto:${encodeURIComponent(value).replace('%40', '@')}` : undefined;
  const digits = value.replaceAll(/[^\d+*#]/g, '');
  return isPhone(value) && digits !== '' ? `tel:${encodeURIComponent(digits).replace('%2B', '+')}` : undefined;
}

/** Whether an app lets this address be followed. Unless it says otherwise: https, mailto, tel. */
export function isFollowed(address: string, { linkSchemes = ['https', 'mailto', 'tel'] }: Pick<BlockSurroundings, 'linkSchemes'>): boolean {
  const [, scheme = ''] = /^(https?|mailto|tel):/i.exec(address) ?? [];
  const isKind = scheme.toLowerCase().startsWith('http')
    ? isWebUrl(address)
    : /^(?:mailto:\S|tel:[+\d*#%])/i.test(address) && URL.canParse(address);
  return isKind && linkSchemes.some((each) => each === scheme.toLowerCase());
}

interface LinkProps {
  /** Of `hrefOf`. */
  readonly href: string;
  readonly around: Pick<BlockSurroundings, 'ask' | 'words' | 'linkSchemes'>;
  /** What it says of where it leads, so that its host is shown where that is something else. Null: the address is the widget's own, or the children show it. */
  readonly words: string | null;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Link({ href, around, words, class: className, children }: LinkProps) {
  const host = unsaidHost(href, words ?? href);
  if (!isFollowed(href, around)) return <span class={className}>{children}</span>;
  const isPage = isWebUrl(href);
  const follow = (event: Event) => {
    if (around.ask.openLink(href)) event.preventDefault();
  };
  return (
    <a class={className ?? 'link'} href={href} onClick={follow} {...(isPage ? { target: '_blank', rel: 'noopener noreferrer' } : {})}>
      {children}
      {host && <small> ({host})</small>}
      {isPage ? <span class="unseen"> ({around.words.opensNewTab})</span> : null}
    </a>
  );
}

/** Close enough to see a house and its streets. */
const ZOOM = 16;

export function mapAddress(lat: number, lng: number, zoom = ZOOM): string {
  const [north, east] = [Number(lat).toFixed(5), Number(lng).toFixed(5)];
  return `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=${Math.round(zoom)}/${north}/${east}`;
}
