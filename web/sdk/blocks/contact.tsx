/** `contact`: how to reach someone. */
import type { BlockProps, BlockSurroundings, BodyOf } from './block-view.ts';
import { CopyButton } from './parts/copy-button.tsx';
import { Icon } from './parts/icon.tsx';
import { hrefOf, Link } from './parts/link.tsx';

type Channel = BodyOf<'contact'>['channels'][number];

function initials(name: string): string {
  const letters = name.split(/\s+/, 3).map((word) => [...word][0] ?? '');
  return letters.slice(0, 2).join('').toUpperCase();
}

function ChannelView({ channel: { kind, value, label }, around }: { readonly channel: Channel; readonly around: BlockSurroundings }) {
  const { words } = around;
  const names = { phone: words.call, email: words.email, chat: words.chat, url: words.website };
  const href = hrefOf(kind === 'chat' ? 'url' : kind, value);
  const inside = (
    <>
      <Icon name={kind === 'phone' ? 'call' : kind} class="is-mark" />
      <span class="grow">
        <b>{label || names[kind]}</b>
        <small class="value">{value}</small>
      </span>
    </>
  );
  return href === undefined ? (
    <div class="row">
      {inside}
      <CopyButton text={value} name={label || names[kind]} around={around} />
    </div>
  ) : (
    <Link class="row" href={href} around={around} words={value}>
      {inside}
      <Icon name={kind === 'url' || kind === 'chat' ? 'out' : 'next'} class="is-way" />
    </Link>
  );
}

export function Contact({ body: { name, role, channels, hours }, around }: BlockProps<'contact'>) {
  return (
    <div class="card contact">
      <div class="who">
        <span class="face" aria-hidden="true">
          {initials(name)}
        </span>
        <span class="grow">
          <span class="title">{name}</span>
          {role ? <small>{role}</small> : null}
        </span>
      </div>
      <ul class="rows">
        {channels.map((channel) => (
          <li dir="auto" key={`${channel.kind} ${channel.value}`}>
            <ChannelView channel={channel} around={around} />
          </li>
        ))}
      </ul>
      {hours ? (
        <p class="note foot">
          <Icon name="clock" />
          {hours}
        </p>
      ) : null}
    </div>
  );
}
